import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readGatewayEnv } from '../../gateway/env.ts';
import { readCompose, readHere } from './testing/read-compose.ts';

let nginx: string;
let nats: string;
beforeAll(async () => {
  [nginx, nats] = await Promise.all([readHere('nginx.conf'), readHere('nats.conf')]);
});
const gateway = readGatewayEnv({});
/** The value of a directive of nginx.conf, within `block` if given; undefined if it is not set. */
const directive = (name: string, block = ''): string | undefined =>
  new RegExp(`${block}[^}]*?\\b${name} ([^;]+);`).exec(nginx)?.[1];

/** A gateway closes connections that are idle for this time, which is fixed in the HTTP engine. */
const gatewayIdleS = 10;

test('nginx: closes idle connections well before a gateway does', () => {
  expect(Number.parseInt(directive('keepalive_timeout', 'upstream gateways') ?? '', 10)).toBeLessThan(gatewayIdleS - 2);
  expect(directive('proxy_http_version')).toBe('1.1');
  expect(directive('proxy_set_header Connection')).toBe('""');
});

test('nginx: closes idle connections before a gateway that is shutting down cuts them', async () => {
  const { services } = await readCompose();
  const keepMs = Number.parseInt(directive('keepalive_timeout', 'upstream gateways') ?? '', 10) * 1_000;
  for (const name of ['gateway-1', 'gateway-2']) {
    expect(Number(services[name]?.environment?.['SHUTDOWN_IDLE_MS'])).toBeGreaterThan(keepMs);
  }
});

test('nginx: accepts any body that a gateway accepts, and waits longer for an answer than a gateway may take', () => {
  const bodyBytesMax = Number.parseInt(directive('client_max_body_size') ?? '', 10) * 1024 ** 2;
  expect(bodyBytesMax).toBeGreaterThan(Math.max(gateway.BATCH_BODY_BYTES_MAX, gateway.TRACK_BODY_BYTES_MAX));
  const readMs = Number.parseInt(directive('proxy_read_timeout') ?? '', 10) * 1_000;
  expect(readMs).toBeGreaterThan(gateway.REQUEST_DEADLINE_MS);
});

test('nginx: the concurrent requests of one address fit into the space for buffered bodies, with room to spare', async () => {
  const { services } = await readCompose();
  const [, tmpMiB] = /size=(\d+)m/.exec(String(services['nginx']?.tmpfs)) ?? [];
  const underWayMax = Number(directive('limit_conn under_way'));
  expect(underWayMax).toBeGreaterThan(0);
  expect(underWayMax * Number.parseInt(directive('client_max_body_size') ?? '', 10)).toBeLessThan(Number(tmpMiB));
  expect([directive('limit_conn_status'), directive('limit_req_status')]).toEqual(['429', '429']);
  expect(nginx).toMatch(/limit_req zone=requests burst=\d+ nodelay;/);
});

test('nginx: gateways see the host with its port, and the scheme of a proxy in front, as clients asked', () => {
  expect(directive('proxy_set_header Host')).toBe('$asked_host');
  expect(nginx).toMatch(/map \$http_host \$asked_host \{\s+default \$http_host;\s+'' \$host;/);
  expect(directive('proxy_set_header X-Forwarded-Proto')).toBe('$asked_scheme');
  expect(nginx).toMatch(
    /map \$http_x_forwarded_proto \$asked_scheme \{\s+default \$http_x_forwarded_proto;\s+'' \$scheme;/,
  );
});

test('nginx: never repeats a request that a gateway may already have accepted', () => {
  expect(directive('proxy_next_upstream')).toBe('error timeout');
  expect(directive('proxy_request_buffering')).toBe('on');
});

test('nats: syncs every write, and its nodes know each other', async () => {
  expect(nats).toMatch(/^ {2}sync_interval: always$/m);
  const entrypoint = String((await readCompose()).services['nats-1']?.entrypoint?.at(-1));
  const routes = [...entrypoint.matchAll(/export (NATS_ROUTE_\d)="nats:\/\/sluice-node:\S+@(nats-\d-node):6222"/g)];
  expect(routes.map(([, , host]) => host)).toEqual(['nats-1-node', 'nats-2-node', 'nats-3-node']);
  for (const [, variable] of routes) expect(nats).toContain(`    $${variable}\n`);
});

test('nats: its nodes meet in a network of their own, with a password and certificates', async () => {
  const { services, networks } = await readCompose();
  expect(nats).toMatch(/^ {2}host: \$NATS_NODE_HOST$/m);
  expect(nats).toMatch(/^ {2}authorization \{ user: sluice-node, password: \$NATS_CLUSTER_PASSWORD \}$/m);
  expect(nats).toMatch(/^ {2}no_advertise: true$/m);
  for (const file of ['cert_file', 'key_file', 'ca_file'])
    expect(nats).toMatch(new RegExp(`^ {4}${file}: /run/secrets/`, 'm'));
  expect(networks['nodes']).toMatchObject({ internal: true });
  const inNodes = Object.entries(services).filter(([, service]) =>
    Object.keys(service.networks ?? {}).includes('nodes'),
  );
  expect(inNodes.map(([name]) => name)).toEqual(['nats-1', 'nats-2', 'nats-3']);
});

test('nats: its limits of storage and memory are set', async () => {
  const given = (await readCompose()).services['nats-1']?.environment;
  expect(nats).toMatch(/^ {2}max_file_store: \$NATS_STORE_BYTES_MAX$/m);
  expect(Number(given?.['NATS_STORE_BYTES_MAX'])).toBeGreaterThan(8 * 1024 ** 3);
  expect(given?.['GOMEMLIMIT']).toMatch(/^\d+MiB$/);
});

test('prometheus: the jobs have the names that they have in the local scrape configuration, on which rules rely', async () => {
  const jobs = (text: string): string[] =>
    (parse(text) as { scrape_configs: { job_name: string }[] }).scrape_configs.map(({ job_name: job }) => job);
  expect(jobs(await readHere('prometheus.yml'))).toEqual(jobs(await readHere('../prometheus/prometheus.yml')));
});
