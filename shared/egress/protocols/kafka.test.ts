import { expect, onTestFinished, test, vi } from 'vitest';
import { createEgressRules } from '../egress-rules.ts';
import type { OutboundRequest } from '../outbound.ts';
import type { Sender, SendResult } from '../sender.ts';
import { startKafkaBroker } from '../testing/kafka-broker.ts';
import { kafkaProtocol } from './kafka.ts';
import { createProtocolSenders } from './protocol-sender.ts';

// Against a scripted broker: a Kafka would need a Java runtime, which the tests do not bring.

function senderFor(allowed: readonly string[], totalTimeoutMs = 30_000): Sender {
  const http = { send: () => Promise.reject(new Error('this is no HTTP')), close: async () => undefined };
  const limits = { connectTimeoutMs: 30_000, totalTimeoutMs };
  const sender = createProtocolSenders({ protocols: [kafkaProtocol], rules: createEgressRules(allowed), limits })(http);
  onTestFinished(() => sender.close());
  return sender;
}

const local = ['127.0.0.0/8'];
const message = (key: string, value: string) => ({ key, value, headers: { event_id: `id of ${value}` } });
const messages = [message('a', '1'), message('b', '2'), message('größe', '3 😀'), message('a', '4')];

const request = (port: number, login?: string): OutboundRequest => ({
  method: 'POST',
  url: `kafka://127.0.0.1:${port}?sasl=plain`,
  headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  body: JSON.stringify({ topic: 'events', messages }),
});
const answer = (status: number, body: unknown): SendResult => ({
  kind: 'answered',
  answer: { status, headers: {}, body: JSON.stringify(body) },
});
const topic = { topic: 'events', partitions: 4 };

test('kafka: messages are stored by an idempotent producer, those of a key in one partition and in order', async () => {
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

test('kafka: a login that is refused is an answer about access', async () => {
  const broker = await startKafkaBroker({ ...topic, login: 'user:right' });
  expect(await senderFor(local).send(request(broker.port, 'user:wrong'))).toEqual(
    answer(401, { error: 'SASL_AUTHENTICATION_FAILED' }),
  );
  expect(broker.batches).toEqual([]);
});

test.each([
  [10, 'MESSAGE_TOO_LARGE', 413],
  [29, 'TOPIC_AUTHORIZATION_FAILED', 401],
  [44, 'POLICY_VIOLATION', 422],
  [19, 'NOT_ENOUGH_REPLICAS', 503],
])(
  'kafka: error %i, %s, is an answer of status %i, and the next request has a producer of its own',
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

test('kafka: a leader that moved is asked again within the request, with the same sequence', async () => {
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

test('kafka: a broker that the cluster names is checked as the first one is', async () => {
  const leader = await startKafkaBroker(topic);
  const broker = await startKafkaBroker({ ...topic, leader: { host: '127.0.0.1', port: leader.port } });
  const first = [`127.0.0.1/32:${broker.port}`];
  const blocked = { kind: 'failed', failure: 'blocked', reason: 'egress_denied', permanent: true };
  expect(await senderFor([]).send(request(broker.port))).toEqual(blocked);
  expect(await senderFor(first).send(request(broker.port))).toEqual(blocked);
  expect(leader.open).toBe(0);
  expect(await senderFor(local).send(request(broker.port))).toEqual(answer(200, { stored: 4 }));
  expect(leader.batches.length).toBeGreaterThan(0);
});

test('kafka: a silent broker is a timeout, and its connections are closed', async () => {
  const broker = await startKafkaBroker({ ...topic, errorOf: () => 'silence' });
  const result = await senderFor(local, 1_000).send(request(broker.port));
  expect(result).toMatchObject({ kind: 'failed', failure: 'timeout', permanent: false });
  await vi.waitFor(() => expect(broker.open).toBe(0));
});

test('kafka: no broker that answers is a failure of the connection', async () => {
  const result = await senderFor(local).send(request(1));
  expect(result).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
});
