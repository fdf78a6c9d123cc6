import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { createDispatcherRig } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let nats: NatsServer;
let rig: DispatcherRig;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  rig = await createDispatcherRig(nats.url);
});
afterEach(() => rig.close());

const configure = (type: string, settings: Readonly<Record<string, unknown>>): void =>
  void rig.configure({ destinations: [httpEntity(rig.destinationId, '', { type, settings })] });

type MailServer = { readonly port: number; readonly received: string[]; readonly connections: () => number };

/**
 * Refuses an address that begins with `later` temporarily, at its first use only, and one that begins with `never`
 * permanently.
 */
async function startMailServer(): Promise<MailServer> {
  const received: string[] = [];
  const greylisted = new Set<string>();
  let open = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onConnect: (_session, done) => {
      open += 1;
      done();
    },
    onClose: () => (open -= 1),
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('never')) return done(Object.assign(new Error('5.1.1 unknown'), { responseCode: 550 }));
      if (!address.startsWith('later') || greylisted.has(address)) return done();
      greylisted.add(address);
      return done(Object.assign(new Error('4.7.1 greylisted'), { responseCode: 451 }));
    },
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        received.push(...session.envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received, connections: () => open };
}

test('other protocols: SMTP: a greylisted message is retried, a refused one is a dead letter, and sessions end with the destination', async () => {
  const server = await startMailServer();
  configure('SMTP', {
    host: '127.0.0.1',
    port: String(server.port),
    security: 'none',
    from: 'shop@example.com',
    to: '{{event.event}}@example.com',
  });
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  await rig.send(['ann', 'later', 'never', 'bob'].map((name) => ({ id: name, name })));
  await until('all are settled', () => server.received.length === 3 && dispatcher.stats()['delivered'] === 3);
  expect(server.received.toSorted()).toEqual(['ann@example.com', 'bob@example.com', 'later@example.com']);
  await until('the refused one is a dead letter', async () => (await rig.deadLetters()).length === 1);
  const [letter] = await rig.deadLetters();
  expect(letter).toMatchObject({
    reason: 'SMTP 550 5.1.1',
    request: { host: `127.0.0.1:${server.port}`, status: 422 },
  });
  expect(server.connections()).toBeGreaterThan(0);
  await dispatcher.stop(0);
  await until('its sessions are over', () => server.connections() === 0);
});

const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Starts a redis-server for this test only. */
async function startRedis(password: string): Promise<{ readonly port: number; readonly client: Redis }> {
  const port = await findFreePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--requirepass', password];
  const server: ChildProcess = spawn('redis-server', options, { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  await until('redis-server listens', () => isListening(port));
  const client = new Redis({ port, host: '127.0.0.1', password });
  onTestFinished(() => client.disconnect());
  return { port, client };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

// npm installs no redis-server. On a machine without one (apt-get install redis-server) Redis is tested only with the
// scripted server of shared/egress/protocols.
test.skipIf(!hasRedis)(
  'other protocols: Redis (a real server, where this machine has one): each visitor in order, also after the memory was full',
  async () => {
    const { port, client } = await startRedis('secret');
    configure('RedisStreams', {
      url: `redis://127.0.0.1:${port}`,
      password: 'secret',
      stream: 'events',
      maxLength: '0',
    });
    const dispatcher = await rig.start({ retryPolicyOf: quickRetries, concurrency: 4 });
    const events = Array.from({ length: 400 }, (_, n) => ({
      id: `e${String(n).padStart(3, '0')}`,
      visitor: `v${n % 7}`,
    }));
    await rig.send(events.slice(0, 200));
    await until('the first half is there', async () => (await client.xlen('events')) === 200);
    await client.config('SET', 'maxmemory', '1');
    await rig.send(events.slice(200));
    await until('the full server was tried', async () => ((await rig.counted())[1] ?? 0) > 0);
    await client.config('SET', 'maxmemory', '0');
    await until('all are there', async () => (await client.xlen('events')) >= 400);
    const entries = await client.xrange('events', '-', '+');
    for (let n = 0; n < 7; n += 1) {
      const ofVisitor = entries.filter(([, fields]) => fields[5] === `v${n}`).map(([, fields]) => fields[3]);
      expect(ofVisitor).toEqual(events.filter(({ visitor }) => visitor === `v${n}`).map(({ id }) => id));
    }
    const [, [, , , , , , , data = '']] = entries[0] ?? ['', []];
    expect(JSON.parse(data)).toMatchObject({ event: { id: 'e000' }, visitor: { id: 'v0' } });
    await dispatcher.stop(0);
    await until('its sessions are over', async () => /connected_clients:1\r/.test(await client.info('clients')));
  },
);
