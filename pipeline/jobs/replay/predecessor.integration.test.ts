import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { replayKey } from '../../../shared/contracts/replay-job.ts';
import type { ReplayJob, ReplayRequest } from '../../../shared/contracts/replay-job.ts';
import { replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { deadLetterSubject, retrySubject } from '../../../shared/contracts/subjects.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../../shared/nats/buckets/replay-store.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { deleteDeadLetters } from '../../../shared/nats/messages/delete-dead-letters.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../shared/testing/log-gate.ts';
import type { LogGate } from '../../../shared/testing/log-gate.ts';
import { startScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { createDispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import type { DispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import { startReplayRunner } from './replay-runner.ts';
import type { ReplayRunner } from './replay-runner.ts';

let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let gate: LogGate;
let connection: LogConnection;
const runners: ReplayRunner[] = [];

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  sink = await startScriptedDestination();
  rig = await createDispatcherRig(nats.url);
  rig.configure({ destinations: [httpEntity(rig.destinationId, sink.url)] });
  gate = await openLogGate(nats.url);
  connection = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'gated' });
});
afterEach(async () => {
  const stopped = Promise.all(runners.splice(0).map((runner) => runner.stop()));
  await connection.close(0);
  await stopped;
  await rig.close();
  await Promise.all([sink.close(), gate.close()]);
});

/** Starts a replay runner; the predecessor's connection goes through the gate. */
async function run(instanceId: 'predecessor' | 'successor'): Promise<ReplayRunner> {
  const own = instanceId === 'predecessor' ? connection : rig.pipelineConnection;
  const runner = await startReplayRunner({
    connection: own,
    bucket: (await openBuckets(own, 1)).replays,
    instanceId,
    erasures: rig.erasures,
    logger: pino({ level: 'silent' }),
    isLive: () => true,
    abandonedAfterMs: instanceId === 'predecessor' ? 3_600_000 : 100,
  });
  runners.push(runner);
  return runner;
}

const numbered = Array.from({ length: 3 }, (_, n) => ({ id: `e${n}` }));
const ids = numbered.map(({ id }) => id);
const subject = (): string => retrySubject(rig.destinationId, replayTier);
const find = (id: string): Promise<ReplayJob | undefined> => createReplayStore(rig.replays).find(rig.destinationId, id);
const done = (id: string): Promise<void> => until('it is done', async () => (await find(id))?.state === 'done');

/**
 * Sends events that the destination refuses, so that they are both in EVENTS and among the dead letters; then requests
 * a replay.
 */
async function askFor(what: 'dead-letters' | 'log'): Promise<ReplayJob> {
  const fromMs = Date.now();
  sink.answer(() => 400);
  const dispatcher = await rig.start();
  await rig.send(numbered);
  await until('everything is acknowledged', async () => (await rig.unfinished()) === 0);
  await dispatcher.stop(5_000);
  sink.answer(() => 200);
  const request: ReplayRequest = what === 'log' ? { what, fromMs, toMs: Date.now() + 60_000 } : { what };
  return createReplayStore(rig.replays).start(rig.accountId, rig.destinationId, request);
}

/** Sends all that the replay queued; returns the ids of the events that the destination received. */
async function sent(): Promise<readonly string[]> {
  const dispatcher = await rig.start();
  dispatcher.retriesStored(replayTier);
  await until('the retry log is empty', async () => (await rig.retries()).size === 0);
  return sink.taken().toSorted();
}

test.each(['dead-letters', 'log'] as const)(
  'order of effects: a replay of %s notes progress and removes dead letters only once the retry log has their events',
  async (what) => {
    const { id } = await askFor(what);
    const refused = gate.refuse(subject());
    await run('predecessor');
    await until('it was refused again and again', () => refused.messages.length >= 4);
    expect(await find(id)).toMatchObject({ state: 'running', queued: 0, scanned: 0 });
    expect(await rig.deadLetters()).toHaveLength(3);
    gate.cut();
    await run('successor');
    await done(id);
    expect(await sent()).toEqual(ids);
    expect(await rig.deadLetters()).toHaveLength(what === 'log' ? 3 : 0);
  },
);

test('predecessor: an instance that stood still before it recorded a replay’s progress is refused, and stops that replay', async () => {
  const { id } = await askFor('log');
  const held = gate.hold(`$KV.REPLAYS.${replayKey(rig.destinationId, id)}`, '"queued":3');
  const predecessor = await run('predecessor');
  await held.arrived;
  const goOn = gate.standStill();
  await run('successor');
  await done(id);
  const ended = await find(id);
  held.release();
  goOn();
  await until('the predecessor has left it', () => predecessor.running === 0);
  expect(await find(id)).toEqual(ended);
  expect(ended).toMatchObject({ owner: 'successor', queued: 3 });
  expect(await sent()).toEqual(ids);
});

test('predecessor: an instance that stood still before it claimed a replay is refused, and does not begin', async () => {
  const { id } = await askFor('log');
  const held = gate.hold(`$KV.REPLAYS.${replayKey(rig.destinationId, id)}`);
  const predecessor = await run('predecessor');
  await held.arrived;
  await run('successor');
  await done(id);
  const ended = await find(id);
  held.release();
  await until('the predecessor has left it', () => predecessor.running === 0);
  expect(await find(id)).toEqual(ended);
  expect(gate.passed.filter((message) => message.subject === subject())).toEqual([]);
});

test('predecessor: a deletion of dead letters that stood still before its purge removes no dead letter stored since', async () => {
  const letters = deadLetterSubject(rig.destinationId);
  const store = (text: string) =>
    publish(rig.connection, letters, Buffer.from(text), { msgId: randomUUID(), timeoutMs: 30_000 });
  for (const text of ['first', 'second']) await store(text);
  const held = gate.hold(`$JS.API.STREAM.PURGE.${streams.deadLetters}`);
  const deleted = deleteDeadLetters(connection, rig.destinationId, { filter: {} }, { bytesMax: 1_000, timeMs: 60_000 });
  await held.arrived;
  await store('late');
  held.release();
  expect(await deleted).toEqual({ deleted: 2, next: undefined });
  expect((await countBySubject(rig.connection, streams.deadLetters, letters)).get(letters)).toBe(1);
});
