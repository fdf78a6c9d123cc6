import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { NatsConfig } from './nats-config.ts';
import { chooseFileStoreBytes, fileStoreBytes, renderNatsConfig } from './nats-config.ts';
import { looksGiven } from '../../nats/monitor/read-log-servers.ts';

const alone: NatsConfig = {
  serverName: 'sluice-4222',
  port: 4222,
  monitorPort: 8222,
  pidFile: '/data/nats-server.pid',
  storeDir: '/data',
  maxPayloadBytes: 8_388_608,
  maxFileStoreBytes: 1_048_576,
  syncAlways: true,
  cluster: undefined,
  furtherLines: undefined,
};

test('nats config: a single server listens on loopback and flushes every write', () => {
  expect(renderNatsConfig(alone)).toBe(
    `server_name: "sluice-4222"
listen: "127.0.0.1:4222"
http: "127.0.0.1:8222"
pid_file: "/data/nats-server.pid"
max_payload: 8388608
jetstream {
  store_dir: "/data"
  max_file_store: 1048576
  sync_interval: always
}
`,
  );
});

test('nats config: an option that is off adds no line', () => {
  expect(renderNatsConfig({ ...alone, syncAlways: false })).not.toContain('sync_interval');
});

test('nats config: a cluster node names all routes, and refuses connections without the password', () => {
  const cluster = { name: 'three', port: 6222, routes: [6222, 6223], password: 'a b' };
  expect(renderNatsConfig({ ...alone, cluster })).toContain(
    `cluster {
  name: "three"
  listen: "127.0.0.1:6222"
  authorization { user: "sluice-node", password: "a b" }
  no_advertise: true
  routes: [
    "nats://sluice-node:a%20b@127.0.0.1:6222"
    "nats://sluice-node:a%20b@127.0.0.1:6223"
  ]
}
`,
  );
});

test('nats config: a path with quotes and spaces stays one string', () => {
  expect(renderNatsConfig({ ...alone, storeDir: '/my "data"/x' })).toContain(String.raw`store_dir: "/my \"data\"/x"`);
});

test('nats config: additional lines are added at the end', () => {
  expect(renderNatsConfig({ ...alone, furtherLines: 'authorization { token: "t" }' })).toMatch(
    /\}\nauthorization \{ token: "t" \}\n$/,
  );
});

const gibibyte = 1024 ** 3;

test.each([
  ['three quarters of the disk', 100 * gibibyte, 8 * gibibyte, 75 * gibibyte],
  ['what the streams may take, where the disk has it', 10 * gibibyte, 8 * gibibyte, 8 * gibibyte],
  ['the whole disk, where the streams may take more', 4 * gibibyte, 8 * gibibyte, 4 * gibibyte],
  ['never nothing', 4_096, 0, 1024 ** 2],
])('file store limit: %s', (_, diskBytes, atLeastBytes, limit) => {
  expect(fileStoreBytes(diskBytes, atLeastBytes)).toBe(limit);
});

test('file store limit: is the same at every start, and distinguishable from a server’s own choice', async () => {
  const limit = await chooseFileStoreBytes(tmpdir());
  expect(await chooseFileStoreBytes(tmpdir())).toBe(limit);
  expect(looksGiven(limit)).toBe(true);
});
