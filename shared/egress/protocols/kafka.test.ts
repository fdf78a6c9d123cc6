import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestAuthority } from '../../testing/certificates.ts';
import { createEgressRules } from '../egress-rules.ts';
import type { OutboundRequest } from '../outbound.ts';
import type { Sender, SendResult } from '../sender.ts';
import { startKafkaBroker } from '../testing/kafka-broker.ts';
import { createScramServer } from '../testing/scram-server.ts';
import { kafkaProtocol } from './kafka.ts';
import { createProtocolSenders } from './protocol-sender.ts';

// Tested with a scripted broker, because Kafka itself needs a Java runtime, which the tests do not install.

type SenderOptions = { readonly totalTimeoutMs?: number; readonly trusted?: SecureContext };

function senderFor(allowed: readonly string[], { totalTimeoutMs = 30_000, trusted }: SenderOptions = {}): Sender {
  const http = { send: () => Promise.reject(new Error('this is no HTTP')), close: async () => undefined };
  const limits = { connectTimeoutMs: 30_000, totalTimeoutMs };
  const rules = createEgressRules(allowed);
  const sender = createProtocolSenders({
    protocols: [kafkaProtocol],
    rules,
    limits,
    ...(trusted === undefined ? {} : { trusted }),
  })(http);
  onTestFinished(() => sender.close());
  return sender;
}

const local = ['127.0.0.0/8'];
const message = (key: string, value: string) => ({ key, value, headers: { event_id: `id of ${value}` } });
const messages = [message('a', '1'), message('b', '2'), message('größe', '3 😀'), message('a', '4')];

const request = (port: number, login?: string, { scheme = 'kafka', sasl = 'plain' } = {}): OutboundRequest => ({
  method: 'POST',
  url: `${scheme}://127.0.0.1:${port}?sasl=${sasl}`,
  headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  body: JSON.stringify({ topic: 'events', messages }),
});
const answer = (status: number, body: unknown): SendResult => ({
  kind: 'answered',
  answer: { status, headers: {}, body: JSON.stringify(body) },
});
const topic = { topic: 'events', partitions: 4 };

test('kafka: messages are stored by an idempotent producer, and messages with the same key go to one partition in order', async () => {
  const broker = await startKafkaBroker({ ...topic, login: 'user:pass:word' });
  const sender = senderFor(local);
  for (let again = 0; again < 2; again += 1) {
    expect(await sender.send(request(broker.port, 'user:pass:word'))).toEqual(answer(200, { stored: 4 }));
  }
  const stored = broker.batches.flatMap((batch) => batch.messages);
  expect(stored.map(({ value }) => value).toSorted()).toEqual(['1', '1', '2', '2', '3 😀', '3 😀', '4', '4']);
  expect(stored.filter(({ key }) => key === 'a').map(({ value }) => value)).toEqual(['1', '4', '1', '4']);
  expect(new Set(stored.filter(({ key }) => key === 'a').map(({ partition }) => partition)).size).toBe(1);
  expect(stored.find(({ key }) => key === 'größe')?.headers).toEqual({ event_id: 'id of 3 😀' });
  for (const { acks, producerId } of broker.batches) expect([acks, producerId]).toEqual([-1, 1n]);
  const sequences = broker.batches.filter((batch) => batch.messages[0]?.key === 'a').map((batch) => batch.baseSequence);
  expect(sequences[1]).toBeGreaterThan(sequences[0] ?? -1);
});

test('kafka: a refused login gives an answer with status 401', async () => {
  const broker = await startKafkaBroker({ ...topic, login: 'user:right' });
  expect(await senderFor(local).send(request(broker.port, 'user:wrong'))).toEqual(
    answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }),
  );
  expect(broker.batches).toEqual([]);
});

test('kafka: the test server’s SCRAM login matches the example in RFC 7677', () => {
  const nonce = '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  const server = createScramServer({ user: 'user', password: 'pencil' }, { digest: 'sha256', salt, nonce });
  expect(server('n,,n=user,r=rOprNGfwEbeRWgbNEkqO')).toBe(
    'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  );
  const proof = 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=';
  expect(server(`c=biws,r=rOprNGfwEbeRWgbNEkqO${nonce},p=${proof}`)).toBe(
    'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  );
});

test.each(['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)(
  'kafka: %s over TLS: the password is proved by both sides, and never sent',
  async (mechanism) => {
    const authority = await createTestAuthority();
    const trusted = createSecureContext({ ca: authority.ca });
    const tls = await authority.server();
    const broker = await startKafkaBroker({ ...topic, login: 'user:pass:wörd', mechanism, tls });
    const how = { scheme: 'kafkas', sasl: mechanism.toLowerCase() };
    const send = (login: string, port = broker.port) => senderFor(local, { trusted }).send(request(port, login, how));
    expect(await send('user:wrong')).toEqual(answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }));
    expect(await send('other:pass:wörd')).toEqual(answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }));
    expect(await send('user:pass:wörd')).toEqual(answer(200, { stored: 4 }));
    const stranger = await startKafkaBroker({ ...topic, login: 'u:p', mechanism, tls, ownPassword: 'another' });
    expect(await send('u:p', stranger.port)).toEqual(answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }));
    expect(await senderFor(local).send(request(broker.port, 'user:pass:wörd', how))).toMatchObject({
      kind: 'failed',
      failure: 'connection',
    });
    expect([broker.batches.length > 0, stranger.batches]).toEqual([true, []]);
  },
);

test('kafka: a broker that demands more SCRAM iterations than any Kafka does is refused', async () => {
  const broker = await startKafkaBroker({ ...topic, login: 'u:p', mechanism: 'SCRAM-SHA-256', iterations: 100_001 });
  expect(await senderFor(local).send(request(broker.port, 'u:p', { sasl: 'scram-sha-256' }))).toEqual(
    answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }),
  );
  expect(broker.batches).toEqual([]);
});

test('kafka: a mechanism that the broker does not offer, or a missing topic, gives an answer with status 401', async () => {
  const login = 'user:password';
  const broker = await startKafkaBroker({ ...topic, topic: 'other', login, mechanism: 'SCRAM-SHA-512' });
  const send = (sasl: string) => senderFor(local).send(request(broker.port, login, { sasl }));
  expect(await send('scram-sha-256')).toMatchObject({ kind: 'answered', answer: { status: 401 } });
  expect(await send('scram-sha-512')).toEqual(answer(401, { error: 'UNKNOWN_TOPIC_OR_PARTITION' }));
});

test.each([
  [10, 'MESSAGE_TOO_LARGE', 413],
  [29, 'TOPIC_AUTHORIZATION_FAILED', 401],
  [44, 'POLICY_VIOLATION', 422],
  [19, 'NOT_ENOUGH_REPLICAS', 503],
])(
  'kafka: error %i, %s, gives an answer with status %i, and the next request gets a new producer',
  async (code, error, status) => {
    let isRefusing = true;
    const broker = await startKafkaBroker({ ...topic, errorOf: () => (isRefusing ? code : 0) });
    const sender = senderFor(local);
    expect(await sender.send(request(broker.port))).toEqual(answer(status, { error }));
    isRefusing = false;
    expect(await sender.send(request(broker.port))).toEqual(answer(200, { stored: 4 }));
    for (const { producerId } of broker.batches) expect(producerId).toBe(2n);
  },
);

test('kafka: if the leader moved, the messages are sent again within the request, with the same sequence', async () => {
  let refusals = 1;
  const asked: number[] = [];
  const broker = await startKafkaBroker({
    ...topic,
    partitions: 1,
    errorOf: ({ baseSequence }) => {
      asked.push(baseSequence);
      return (refusals -= 1) >= 0 ? 6 : 0;
    },
  });
  expect(await senderFor(local).send(request(broker.port))).toEqual(answer(200, { stored: 4 }));
  expect(asked).toEqual([0, 0]);
});

test('kafka: a broker that the cluster names is checked against the egress rules like the first broker', async () => {
  const leader = await startKafkaBroker(topic);
  const broker = await startKafkaBroker({ ...topic, leader: { host: '127.0.0.1', port: leader.port } });
  const first = [`127.0.0.1/32:${broker.port}`];
  const blocked = {
    kind: 'failed',
    failure: 'blocked',
    reason: 'address or port not allowed (EGRESS_ALLOW)',
    permanent: true,
  };
  expect(await senderFor([]).send(request(broker.port))).toEqual(blocked);
  expect(await senderFor(first).send(request(broker.port))).toEqual(blocked);
  expect(leader.open).toBe(0);
  expect(await senderFor(local).send(request(broker.port))).toEqual(answer(200, { stored: 4 }));
  expect(leader.batches.length).toBeGreaterThan(0);
});

test('kafka: a silent broker causes a timeout, and its connections are closed', async () => {
  const broker = await startKafkaBroker({ ...topic, errorOf: () => 'silence' });
  const result = await senderFor(local, { totalTimeoutMs: 1_000 }).send(request(broker.port));
  expect(result).toMatchObject({ kind: 'failed', failure: 'timeout', permanent: false });
  await vi.waitFor(() => expect(broker.open).toBe(0));
});

test.each([
  ['timed out', (sender: Sender) => vi.advanceTimersByTimeAsync(15_000).then(() => sender)],
  ['was ended by closing the sender', (sender: Sender) => sender.close()],
])('kafka: the messages of a request that %s are not sent again later', async (_name, end) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let requests = 0;
  const errorOf = () => ((requests += 1), 'silence' as const);
  const broker = await startKafkaBroker({ ...topic, partitions: 1, errorOf });
  const sender = senderFor(local, { totalTimeoutMs: 15_000 });
  const result = sender.send(request(broker.port));
  await vi.waitFor(() => expect(requests).toBe(1));
  await end(sender);
  expect(await result).toMatchObject({ kind: 'failed', permanent: false });
  // The client itself waits 30 s for a response, then pauses for up to a second before each of two more attempts.
  await vi.advanceTimersByTimeAsync(100_000);
  expect(requests).toBe(1);
  await vi.waitFor(() => expect(broker.open).toBe(0));
});

test('kafka: if no broker answers, the result is a connection failure', async () => {
  const result = await senderFor(local).send(request(1));
  expect(result).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
});

test.each([
  ['is empty', Buffer.from('00000000', 'hex')],
  ['has a negative size', Buffer.from('ffffffff', 'hex')],
  ['never ends', Buffer.concat([Buffer.from('7fffffff', 'hex'), Buffer.alloc(17 * 2 ** 20)])],
])('kafka: a response that %s fails its request at once, and closes the connection', async (_name, bytes) => {
  let open = 0;
  const server = createServer((socket) => {
    open += 1;
    socket.on('error', () => undefined).on('close', () => (open -= 1));
    socket.once('data', () => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const result = await senderFor(local).send(request(port));
  expect(result).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
  await vi.waitFor(() => expect(open).toBe(0));
});

test('kafka: a broker that the cluster names with an impossible port is refused', async () => {
  const broker = await startKafkaBroker({ ...topic, leader: { host: 'localhost', port: 99_999 } });
  expect(await senderFor([...local, '::1/128']).send(request(broker.port))).toMatchObject({ failure: 'blocked' });
});
