import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../embedded/nats/nats-server.ts';
import { client } from '../nats/connection/client.ts';
import { connectLog } from '../nats/connection/connection.ts';
import { publish } from '../nats/publish/publisher.ts';
import { openLogGate } from './log-gate.ts';
import { makeTestLog } from './make-test-log.ts';
import { startTestNats } from './servers.ts';
import { testTopology } from './test-topology.ts';
import { ingestSubject } from '../contracts/subjects.ts';
import { streams } from '../nats/streams/topology.ts';

let nats: NatsServer;

beforeAll(async () => {
  nats = await startTestNats();
  await makeTestLog({ url: nats.url }, testTopology({}));
});
afterAll(() => nats.stop());

const store = (connection: Awaited<ReturnType<typeof connectLog>>, partition: number, msgId: string) =>
  publish(connection, ingestSubject(partition), Buffer.from(`payload of ${msgId}`), { msgId, timeoutMs: 45_000 });

test('log gate: held messages reach the server only after their release, in order; all other messages pass', async () => {
  const gate = await openLogGate(nats.url);
  const connection = await connectLog({ url: gate.url, name: 'gated' });
  const held = gate.hold('ingest.0', 'held');
  const stored: string[] = [];
  const first = store(connection, 0, 'held-1').then(() => stored.push('held-1'));
  const second = store(connection, 0, 'held-2').then(() => stored.push('held-2'));
  await held.arrived;
  await store(connection, 0, 'free');
  await store(connection, 1, 'held-elsewhere');
  expect(stored).toEqual([]);
  expect(held.messages.map(({ subject }) => subject)).toEqual(['ingest.0', 'ingest.0']);
  held.release();
  await Promise.all([first, second]);
  expect(stored).toEqual(['held-1', 'held-2']);
  expect(gate.passed.filter(({ subject }) => subject.startsWith('ingest.')).map(({ text }) => text.slice(-6))).toEqual([
    'f free',
    'ewhere',
    'held-1',
    'held-2',
  ]);
  await connection.close();
  await gate.close();
});

test('log gate: a refused message is answered as by a full stream; after a cut, held messages never arrive', async () => {
  const gate = await openLogGate(nats.url);
  const connection = await connectLog({ url: gate.url, name: 'gated' });
  const refused = gate.refuse('ingest.2');
  await expect(store(connection, 2, 'refused')).rejects.toMatchObject({ reason: 'full' });
  refused.release();
  await store(connection, 2, 'accepted');
  const held = gate.hold('ingest.2');
  const lost = store(connection, 2, 'lost').catch((error: unknown) => error);
  await held.arrived;
  gate.cut();
  expect(await lost).toMatchObject({ reason: 'disconnected' });
  held.release();
  const operator = await connectLog({ url: nats.url, name: 'operator' });
  const info = await operator[client].jsm.streams.info(streams.ingest, { subjects_filter: 'ingest.2' });
  expect(info.state.subjects).toEqual({ 'ingest.2': 1 });
  await Promise.all([connection.close(), operator.close()]);
  await gate.close();
});
