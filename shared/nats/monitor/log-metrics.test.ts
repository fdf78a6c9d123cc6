import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readLogState } from './read-log-servers.ts';
import type { LogServer } from './read-log-servers.ts';
import { MetricsPage } from '../../runtime/metrics/metrics-page.ts';
import { showLog } from './log-metrics.ts';
import { complaintsOf } from './watch-log-servers.ts';

const storage = { limitBytes: 2_000, isLimitGiven: true, reservedBytes: 1_000, usedBytes: 0 };
const servers: readonly LogServer[] = [
  { name: 'nats-1', version: '2.15.1', complaint: undefined, storage, areRoutesEncrypted: true },
  {
    name: 'nats-2',
    version: '2.12.0',
    complaint: 'no space left on device',
    storage: { ...storage, limitBytes: 999, isLimitGiven: false },
    areRoutesEncrypted: false,
  },
];

async function shown(
  known: readonly LogServer[],
  server: { version: string; name: string },
  answers: ReadonlyMap<string, boolean> = new Map(),
): Promise<string> {
  const page = new MetricsPage();
  showLog(page, {
    connection: { connected: true, reconnects: 0, server },
    logServers: { mode: 'fsync', servers: known, answers },
  });
  return page.text();
}

test('log metrics: the page shows the checks and limits of each nats-server', async () => {
  const text = await shown(servers, { version: '2.15.1', name: 'nats-1' });
  for (const [server, holds] of Object.entries({ 'nats-1': 1, 'nats-2': 0 })) {
    for (const check of ['version', 'health', 'limit_given', 'limit_enough', 'cluster_tls']) {
      expect(text).toContain(`sluice_log_server_check{server="${server}",check="${check}"} ${holds}\n`);
    }
  }
  expect(text).toContain('sluice_log_server_limit_bytes{server="nats-2"} 999\n');
  expect(text).toContain('sluice_log_server_reserved_bytes{server="nats-1"} 1000\n');
});

test('log metrics: a server without a cluster port passes the check of cluster TLS', async () => {
  const [first] = servers;
  const alone = { ...first, name: 'alone', areRoutesEncrypted: undefined } as LogServer;
  const text = await shown([alone], { version: '2.15.1', name: 'alone' });
  expect(text).toContain('sluice_log_server_check{server="alone",check="cluster_tls"} 1\n');
});

test('log metrics: without a monitor port, the version of the connected server is still checked', async () => {
  const text = await shown([], { version: '2.10.27', name: 'alone' });
  expect(text).toContain('sluice_log_server_check{server="alone",check="version"} 0\n');
  expect(text).not.toContain('check="health"');
});

test('log metrics: a monitor port that does not answer fails a check under its address', async () => {
  const silent = await closedPort();
  const monitor = createServer((request, response) => {
    response.end(
      request.url === '/varz' ? '{"server_name":"nats-1","version":"2.15.1","jetstream":{}}' : '{"status":"ok"}',
    );
  });
  await once(monitor.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void monitor.close());
  const { port } = monitor.address() as AddressInfo;
  const address = (of: number): string => `127.0.0.1:${of}`;
  const state = await readLogState(`http://${address(port)}, http://user:word@${address(silent)}/nats`, 2_000);
  expect(state.servers).toMatchObject([{ name: 'nats-1' }]);
  const text = await shown(state.servers, { version: '2.15.1', name: 'nats-1' }, state.answers);
  expect(text).toContain(`sluice_log_server_check{server="${address(port)}",check="answers"} 1\n`);
  expect(text).toContain(`sluice_log_server_check{server="${address(silent)}",check="answers"} 0\n`);
});

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

test('log servers: the complaint names each server that has a problem, and is undefined if no server has a problem', () => {
  expect(complaintsOf(servers)).toBe('nats-2: no space left on device');
  expect(complaintsOf(servers.slice(0, 1))).toBeUndefined();
});
