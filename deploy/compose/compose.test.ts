import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createEgressRules, readEgressRanges } from '../../shared/egress/egress-rules.ts';
import { quotaEnv } from '../../shared/limits/index.ts';
import { topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { logUsers } from '../../shared/nats/users/log-users.ts';
import { accountsFile } from '../../shared/nats/users/render-users.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { serviceEnv } from '../../shared/runtime/service-settings.ts';
import { isService, problemsOf, unknownVariables } from '../testing/service-environments.ts';
import type { ServiceName } from '../testing/service-environments.ts';
import { ownServices, readCompose, readHere } from './testing/read-compose.ts';
import type { Compose, ComposeService } from './testing/read-compose.ts';

let compose: Compose;
let own: [name: string, service: ComposeService][];
beforeAll(async () => {
  compose = await readCompose();
  own = ownServices(compose);
});

const runs = ({ command }: ComposeService): ServiceName => {
  const name = command?.[0];
  if (!isService(name)) throw new Error(`${name} is no service`);
  return name;
};
const variables = ({ environment }: ComposeService): Record<string, string> =>
  Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, String(value)]));

test('compose: every service of Sluice knows the variables that it is given, and accepts their values', () => {
  expect(own.map(([name]) => name)).toHaveLength(7);
  for (const [name, service] of own) {
    const given = variables(service);
    expect({ name, unknown: unknownVariables(runs(service), Object.keys(given)) }).toEqual({ name, unknown: [] });
    expect({ name, problems: problemsOf(runs(service), given) }).toEqual({ name, problems: [] });
  }
});

/** Variables that differ per service: each has its own login, and control planes have no quotas. */
const ofSomeServices: ReadonlySet<string> = new Set(['NATS_USER', 'NATS_PASSWORD_FILE', 'LOG_ACCOUNT_SHARE_PERCENT']);

const networksOf = ({ networks = [] }: ComposeService): readonly string[] =>
  Array.isArray(networks) ? networks : Object.keys(networks);

test('compose: each service logs in as itself, and the log nodes know the passwords of all services', async () => {
  const services = own.filter(([, service]) => variables(service)['NATS_URL'] !== undefined);
  for (const [name, service] of services) {
    const kind = runs(service);
    expect({ name, ...variables(service) }).toMatchObject({
      NATS_USER: `sluice-${kind}`,
      NATS_PASSWORD_FILE: `/run/secrets/nats-${kind}-password`,
    });
  }
  const entrypoint = String(compose.services['nats-1']?.entrypoint?.at(-1));
  const users = accountsFile();
  for (const { passwordVariable } of Object.values(logUsers)) {
    expect(users).toContain(`password: $${passwordVariable}`);
    expect(entrypoint).toContain(`export ${passwordVariable}="$$(cat /run/secrets/`);
  }
  expect(await readHere('nats.conf')).toMatch(/^include accounts.conf$/m);
  for (const kind of ['pipeline', 'control-plane'] as const) {
    const given = own.find(([, service]) => runs(service) === kind)?.[1];
    expect(given?.environment).toMatchObject({
      DATABASE_USER: `sluice_${kind.replace('-', '_')}`,
      DATABASE_PASSWORD_FILE: `/run/secrets/postgres-${kind}-password`,
    });
  }
});

test('compose: a destination may be the demo sink, but no other container, even if every private range is allowed', () => {
  const { EGRESS_ALLOW = '', EGRESS_DENY = '' } = variables(compose.services['pipeline-1'] as ComposeService);
  const sink = compose.services['sink']?.networks as Readonly<Record<string, { readonly ipv4_address?: string }>>;
  const sinkAddress = sink['destinations']?.ipv4_address ?? '';
  const usual = readEgressRanges({ EGRESS_ALLOW, EGRESS_DENY });
  expect(createEgressRules(usual.allowed, usual.denied).allows(sinkAddress, 8090)).toBe(true);
  const wide = createEgressRules(['10.0.0.0/8'], usual.denied);
  for (const { ipam } of Object.values(compose.networks)) {
    const [{ subnet, ip_range: range } = { subnet: '' }] = ipam.config;
    const [first] = (range ?? subnet).split('/');
    // The host's address in the network, and the first address that a container gets.
    for (const address of [first?.replace(/\.0$/, '.1'), first?.replace(/\.0$/, '.2')]) {
      expect({ address, isAllowed: wide.allows(address ?? '', 9082) }).toEqual({ address, isAllowed: false });
    }
  }
  for (const kind of ['pipeline', 'control-plane'] as const) {
    for (const [, service] of own.filter(([, each]) => runs(each) === kind)) {
      expect(variables(service)).toMatchObject({ EGRESS_ALLOW, EGRESS_DENY });
    }
  }
});

test('compose: every service of Sluice has the same settings of the log', () => {
  const told = own
    .map(([, service]) => variables(service))
    .filter((given) => given['NATS_URL'] !== undefined)
    .map((given) => Object.entries(given).filter(([name]) => /^(LOG|NATS)_/.test(name) && !ofSomeServices.has(name)));
  expect(told).toHaveLength(5);
  expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(Object.fromEntries(told[0] ?? [])).toMatchObject({ LOG_REPLICAS: '3' });
});

test('compose: pipelines and gateways have names of their own, and control planes do not migrate', () => {
  const ids = own.map(([, service]) => variables(service)['INSTANCE_ID']).filter((id) => id !== undefined);
  expect(ids.toSorted()).toEqual(['gateway-1', 'gateway-2', 'pipeline-1', 'pipeline-2']);
  expect(compose.services['control-plane']?.environment).toMatchObject({ MIGRATE_ON_START: 'false' });
});

test('compose: install scripts name the port at which nginx is published, unless .env has another address', async () => {
  const published = compose.services['nginx']?.ports?.[0]?.split(':')[0];
  expect(compose.services['control-plane']?.environment?.['INGEST_URL']).toBe(`http://localhost:${published}`);
  expect(await readHere('compose.yaml')).toContain('INGEST_URL: ${INGEST_URL:-');
});

test('compose: a service gets more time to stop than its shutdown deadline', () => {
  for (const [, service] of own.filter(([, { environment }]) => environment?.['SHUTDOWN_DEADLINE_MS'] !== undefined)) {
    const graceMs = Number.parseInt(service.stop_grace_period ?? '0', 10) * 1_000;
    expect(graceMs).toBeGreaterThan(Number(service.environment?.['SHUTDOWN_DEADLINE_MS']));
  }
});

test('compose: every secret that a service names is given to it, declared, and made by make-secrets', async () => {
  const script = await readHere('make-secrets');
  const natsConf = await readHere('nats.conf');
  for (const name of Object.keys(compose.secrets)) {
    expect(compose.secrets[name]?.file).toBe(`./secrets/${name}`);
    expect(script).toContain(`\nmake ${name} `);
  }
  for (const service of Object.values(compose.services)) {
    const text = JSON.stringify([service.environment, (service as { entrypoint?: unknown }).entrypoint]);
    const mounted = service.volumes?.includes('./nats.conf:/etc/nats/nats.conf:ro') === true ? natsConf : '';
    const named = [...`${text}${mounted}`.matchAll(/\/run\/secrets\/([a-z-]+)/g)].map(([, name]) => name);
    expect(new Set(service.secrets)).toEqual(new Set(named));
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...(service.secrets ?? [])]));
  }
});

test('compose: every mounted file exists, and every volume and network is declared', async () => {
  for (const service of Object.values(compose.services)) {
    for (const volume of service.volumes ?? []) {
      const from = volume.split(':')[0] ?? '';
      if (from.startsWith('.')) await access(join(import.meta.dirname, from));
      else expect(compose.volumes).toHaveProperty(from);
    }
    for (const network of networksOf(service)) expect(compose.networks).toHaveProperty(network);
  }
});

test('compose: every container is read-only and has no capabilities but those that PostgreSQL begins with', () => {
  const begins = { postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'] } as Record<string, string[]>;
  for (const [name, service] of Object.entries(compose.services)) {
    const { read_only: readOnly, cap_drop: dropped, cap_add: added = [], security_opt: options, privileged } = service;
    expect({ name, readOnly, dropped, added, options, privileged }).toEqual({
      name,
      readOnly: true,
      dropped: ['ALL'],
      added: begins[name] ?? [],
      options: ['no-new-privileges:true'],
      privileged: undefined,
    });
  }
});

test('compose: a service depends only on a health check that exists, or on the end of the migration', () => {
  for (const { depends_on: needs } of Object.values(compose.services)) {
    if (needs === undefined || Array.isArray(needs)) continue;
    for (const [name, { condition }] of Object.entries(needs as Record<string, { condition: string }>)) {
      const needed = compose.services[name];
      if (condition === 'service_healthy') expect(needed?.healthcheck?.test?.length).toBeGreaterThan(1);
      else expect({ name, restart: needed?.restart }).toEqual({ name: 'migrate', restart: 'on-failure' });
    }
  }
});

test('compose: every address names a service and a port it listens on', async () => {
  const given = own.flatMap(([, service]) => Object.values(variables(service)));
  const texts = [...given, await readHere('nginx.conf'), await readHere('nats.conf'), await readHere('prometheus.yml')];
  const hosts = Object.keys(compose.services).join('|');
  const addresses = texts.flatMap((text) => [...text.matchAll(new RegExp(`\\b(${hosts}):(\\d+)`, 'g'))]);
  const listened = await listenedPorts();
  expect(addresses.length).toBeGreaterThan(40);
  for (const [address, host = '', port] of addresses) {
    expect({ address, ports: listened(host) }).toEqual({ address, ports: expect.arrayContaining([port]) });
  }
  for (const [host, { ports }] of Object.entries(compose.services)) {
    for (const published of ports ?? []) expect(listened(host)).toContain(published.split(':').at(-1));
  }
});

async function listenedPorts(): Promise<(host: string) => string[]> {
  const nats = [...(await readHere('nats.conf')).matchAll(/^ *(?:http_)?port: (\d+)/gm)].map(([, port]) => port ?? '');
  const nginx = [...(/listen (\d+)/.exec(await readHere('nginx.conf'))?.slice(1) ?? [])];
  return (host) => {
    if (host.startsWith('nats')) return nats;
    const others: Record<string, string[]> = { nginx, postgres: ['5432'], prometheus: ['9090'], grafana: ['3000'] };
    const env = Object.entries(compose.services[host]?.environment ?? {});
    return others[host] ?? env.filter(([name]) => name.endsWith('_PORT')).map(([, port]) => String(port));
  };
}

test('compose: git sees neither the secrets nor the keys that the README has written to a file', async () => {
  const [written] = (await readHere('README.md')).match(/^.*> credentials\.json.*$/m) ?? [];
  expect(written).toContain('umask 077');
  expect((await readHere('.gitignore')).split('\n')).toEqual(expect.arrayContaining(['secrets', 'credentials.json']));
});

test('compose: .env.example has every variable, with its default', async () => {
  const used = [...(await readHere('compose.yaml')).matchAll(/\$\{(\w+)(?::-([^}]*))?\}/g)];
  const usedDefaults = Object.fromEntries(used.map(([, name, value]) => [name, value]));
  const lines = (await readHere('.env.example')).split('\n').filter((line) => /^\w+=/.test(line));
  const shown = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
  expect(shown).toEqual(usedDefaults);
});

test('compose: a default of a log setting is the one that the services have', async () => {
  const used = [...(await readHere('compose.yaml')).matchAll(/\$\{(LOG_\w+):-([^}]*)\}/g)];
  expect(used.length).toBeGreaterThan(1);
  const defaults = new Map(Object.entries(defaultsOf({ ...topologyEnv, ...quotaEnv, ...serviceEnv })));
  for (const [, name = '', value] of used) expect([name, value]).toEqual([name, String(defaults.get(name) ?? '')]);
});

test('compose: Prometheus and Grafana find the rules and dashboards where they are mounted', async () => {
  const prometheus = parse(await readHere('prometheus.yml')) as { rule_files: string[] };
  const provider = parse(await readHere('grafana/dashboards.yaml')) as { providers: { options: { path: string } }[] };
  const rulesAt = prometheus.rule_files[0]?.replace('/*.yml', '');
  const dashboardsAt = provider.providers[0]?.options.path;
  expect(compose.services['prometheus']?.volumes).toContain(`../prometheus/rules:${rulesAt}:ro`);
  expect(compose.services['grafana']?.volumes).toContain(`../grafana/dashboards:${dashboardsAt}:ro`);
});
