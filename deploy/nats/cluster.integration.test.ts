import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { startServerProcess } from '../../shared/embedded/machine/server-process.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { logUsers } from '../../shared/nats/users/log-users.ts';
import { createTestAuthority } from '../../shared/testing/certificates.ts';
import type { Certificate, TestAuthority } from '../../shared/testing/certificates.ts';
import { createNatsFolder, natsBinaryPath } from '../../shared/testing/servers.ts';

// Tests this folder's files as shipped, with other ports, addresses and paths.

type Node = {
  readonly port: number;
  readonly monitorUrl: string;
  log(): Promise<string>;
  stop(): Promise<void>;
};

const names = ['nats-1', 'nats-2'] as const;
const clusterPassword = 'pthe-password-of-the-nodes';
const passwords = Object.fromEntries(Object.values(logUsers).map(({ passwordVariable: name }) => [name, `p-${name}`]));
let authority: TestAuthority;
let clusterPorts: number[];
let nodes: Node[];

beforeAll(async () => {
  clusterPorts = await Promise.all(names.map(() => findFreePort()));
  authority = await createTestAuthority('nodes');
  nodes = await Promise.all(
    names.map(async (name, index) => startShipped(name, index, authority.ca, await authority.server())),
  );
  for (const node of nodes) {
    await vi.waitUntil(async () => (await otherServers(node)).length === 1, { timeout: 30_000 });
  }
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

const here = (name: string): Promise<string> => readFile(join(import.meta.dirname, name), 'utf8');
const unique = (values: readonly string[]): string[] => [...new Set(values)].toSorted();

async function start(folder: string, conf: string, env: Readonly<Record<string, string>>): Promise<Node> {
  const [port, monitorPort] = [await findFreePort(), await findFreePort()];
  const file = join(folder, 'nats-server.conf');
  const ports = conf.replace(/^port: .*$/m, `listen: "127.0.0.1:${port}"`).replace(/^http_port: .*$/m, '');
  await writeFile(file, `http: "127.0.0.1:${monitorPort}"\n${ports}`);
  const logFile = join(folder, 'log');
  const server = await startServerProcess({
    label: 'nats-server',
    command: await natsBinaryPath(),
    args: ['--config', file],
    env: { ...env },
    logFile,
    stopSteps: [{ signal: 'SIGTERM', waitMs: 10_000 }],
  });
  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  await server.whenReady(
    () =>
      fetch(`${monitorUrl}/varz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    30_000,
  );
  return { port, monitorUrl, log: () => readFile(logFile, 'utf8'), stop: () => server.stop() };
}

async function startShipped(name: string, index: number, ca: string, own: Certificate): Promise<Node> {
  const folder = await createNatsFolder();
  for (const [file, text] of [
    ['node.pem', own.cert],
    ['node-key.pem', own.key],
    ['nodes-ca.pem', ca],
    ['accounts.conf', await here('accounts.conf')],
  ] as const) {
    await writeFile(join(folder, file), text);
  }
  const conf = (await here('nats-server.conf'))
    .replace('server_name: nats-1', `server_name: ${name}`)
    .replace('listen: "10.0.0.1:6222"', `listen: "127.0.0.1:${clusterPorts[index]}"`)
    .replaceAll('/etc/nats/', `${folder}/`)
    .replace('/run/nats/', `${folder}/`)
    .replace('/var/lib/nats', join(folder, 'data'))
    .replace('max_file_store: 75GB', 'max_file_store: 1GB')
    .replace(', $NATS_ROUTE_3', '');
  const routes = clusterPorts.map((port, at): [string, string] => [
    `NATS_ROUTE_${at + 1}`,
    `nats://sluice-node:${clusterPassword}@127.0.0.1:${port}`,
  ]);
  return start(folder, conf, { ...passwords, NATS_CLUSTER_PASSWORD: clusterPassword, ...Object.fromEntries(routes) });
}

/** Names of the servers to which a node has routes. */
async function otherServers({ monitorUrl }: Node): Promise<string[]> {
  const { routes } = (await (await fetch(`${monitorUrl}/routez`)).json()) as { routes: { remote_name: string }[] };
  return unique(routes.map((route) => route.remote_name));
}

/** Starts a stranger's server, which tries to join the cluster at `route`. */
async function startStranger(route: string, tls: string): Promise<Node> {
  const folder = await createNatsFolder();
  const conf = [
    'server_name: stranger',
    'port: 4222',
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'data'))}, max_file_store: 64MB }`,
    'cluster {',
    '  name: sluice',
    `  listen: "127.0.0.1:${await findFreePort()}"`,
    tls,
    `  routes: [ "${route}" ]`,
    '}',
  ];
  return start(folder, conf.join('\n'), {});
}

test('shipped cluster: its nodes find each other, and each service logs in', async () => {
  expect(await Promise.all(nodes.map(otherServers))).toEqual([['nats-2'], ['nats-1']]);
  for (const { name, passwordVariable } of Object.values(logUsers)) {
    const connection = await connectLog({
      url: `nats://127.0.0.1:${nodes[0]?.port}`,
      name,
      login: { kind: 'password', user: name, password: passwords[passwordVariable] ?? '' },
    });
    // Clients do not get the addresses of other servers.
    expect(connection[client].nc.info?.connect_urls ?? []).toEqual([]);
    await connection.close();
  }
});

/** The block `tls` for a stranger's cluster configuration, with a certificate of `authority`. */
async function certificateOf(authority: TestAuthority): Promise<string> {
  const folder = await createNatsFolder();
  const { cert, key } = await authority.server();
  const files = { cert_file: cert, key_file: key, ca_file: authority.ca };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const lines = Object.keys(files).map((name) => `${name}: ${JSON.stringify(join(folder, name))}`);
  return `  tls { ${lines.join(', ')} }`;
}

const strangers: readonly (readonly [what: string, login: string, tls: () => Promise<string>])[] = [
  ['without password and certificate', '', () => Promise.resolve('')],
  [
    'with the password and a certificate of another authority',
    `sluice-node:${clusterPassword}@`,
    async () => certificateOf(await createTestAuthority('another authority')),
  ],
  ['with a certificate of the nodes and another password', 'sluice-node:another@', () => certificateOf(authority)],
];

test.each(strangers)('shipped cluster: a server %s does not join', async (_, login, tls) => {
  const stranger = await startStranger(`nats://${login}127.0.0.1:${clusterPorts[0]}`, await tls());
  try {
    // The stranger tried to connect, and was refused.
    await expect.poll(() => stranger.log(), { timeout: 20_000 }).toMatch(/rid:\d+ - (?:TLS.*error|.*closed)/i);
    // Polled, because the stranger counts a server from its greeting until the server refuses it.
    await expect.poll(() => otherServers(stranger)).toEqual([]);
    for (const node of nodes) expect(await otherServers(node)).not.toContain('stranger');
  } finally {
    await stranger.stop();
  }
});
