import { expect, test } from 'vitest';
import { createLocalPlace, localNatsConf, namedAddresses } from './local-place.ts';

const ports = new Map([
  ['nats-1:4222', 21],
  ['nats-1:6222', 22],
  ['nats-1:8222', 23],
  ['nats-2:6222', 24],
]);
const place = createLocalPlace('/here', ports);

test('local place: addresses become loopback ports, secrets share one folder, other paths are in the folder of their service', () => {
  expect(place.here('nats://nats-1:4222,nats://nats-2:6222', 'gateway-1')).toBe(
    'nats://127.0.0.1:21,nats://127.0.0.1:24',
  );
  expect(place.here('/run/secrets/nats-password', 'gateway-1')).toBe('/here/secrets/nats-password');
  expect(place.here('nats-server --config /etc/nats/nats.conf', 'nats-1')).toBe(
    'nats-server --config /here/nats-1/etc/nats/nats.conf',
  );
  expect(() => place.portOf('nats-2', '4222')).toThrow('nats-2:4222');
});

test('local place: only the addresses of services are found, each once', () => {
  const texts = ['nats-1:4222 nats-1:4222', 'http://example.com:80 nats-2:6222'];
  expect(namedAddresses(texts, ['nats-1', 'nats-2'])).toEqual(['nats-1:4222', 'nats-2:6222']);
});

test('local place: a node of the log has ports and a folder of its own', () => {
  const conf =
    'port: 4222\nhttp_port: 8222\nstore_dir: /data\ncluster {\n  host: $NATS_NODE_HOST\n  port: 6222\n  routes: [nats://nats-2-node:6222]\n}';
  expect(localNatsConf(conf, 'nats-1', place)).toBe(
    'host: 127.0.0.1\nport: 21\nhttp_port: 23\nstore_dir: /here/nats-1/data\ncluster {\n  host: 127.0.0.1\n  port: 22\n  routes: [nats://127.0.0.1:24]\n}',
  );
});
