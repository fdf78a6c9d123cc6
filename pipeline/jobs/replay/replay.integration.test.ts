import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { countBySubject, deleteMessage, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { listDeadLetters } from '../../../shared/nats/messages/list-dead-letters.ts';
import { encodeReplay, replayKey, shareDone } from '../../../shared/contracts/replay-job.ts';
import type { ReplayJob, ReplayRequest } from '../../../shared/contracts/replay-job.ts';
import {
  TooManyReplaysError,
  createReplayStore,
  replaysWaitingMax,
} from '../../../shared/nats/buckets/replay-store.ts';
import type { ReplayStore } from '../../../shared/nats/buckets/replay-store.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { createDispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import type { DispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import type { DispatcherActor } from '../../workers/dispatch/dispatcher.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { startScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { until } from '../../../shared/testing/until.ts';
import { ReplayTurns } from './replay-turns.ts';
import { framesWaitingMax, queueEvents } from './run-replay.ts';
import { startReplayRunner } from './replay-runner.ts';
import type { ReplayRunner } from './replay-runner.ts';

let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let replayStore: ReplayStore;
let runner: ReplayRunner | undefined;
let isLive = true;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  sink = await startScriptedDestination();
  rig = await createDispatcherRig(nats.url);
  rig.configure({ destinations: [httpEntity(rig.destinationId, sink.url)] });
  replayStore = createReplayStore(rig.replays);
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  isLive = true;
  await rig.close();
  await sink.close();
});

const run = async (settings: { readonly abandonedAfterMs?: number } = {}): Promise<void> => {
  const logger = pino({ level: 'silent' });
  runner = await startReplayRunner({
    connection: rig.pipelineConnection,
    bucket: rig.replays,
    instanceId: 'test',
    erasures: rig.erasures,
    logger,
    isLive: () => isLive,
    ...settings,
  });
};
const replay = (request: ReplayRequest) => replayStore.start(rig.accountId, rig.destinationId, request);
const idle = (): Promise<void> => until('everything is acknowledged', async () => (await rig.unfinished()) === 0);
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `e${i}` }));

/** Sends events the destination refuses, so that each becomes a dead letter. */
async function refuseAll(count: number, status = 400): Promise<DispatcherActor> {
  sink.answer(() => status);
  const dispatcher = await rig.start();
  await rig.send(numbered(count));
  await idle();
  sink.answer(() => 200);
  return dispatcher;
}

async function isIn(id: string, state: ReplayJob['state']): Promise<boolean> {
  return (await replayStore.find(rig.destinationId, id))?.state === state;
}

/** Erases visitors, and waits until this process knows of the erasure. */
async function erase(...visitorIds: readonly string[]): Promise<void> {
  const atMs = Date.now();
  await rig.erase(visitorIds, atMs);
  const [visitorId = ''] = visitorIds;
  const isKnown = (): boolean => rig.erasures.isErased(rig.accountId, { visitorId, receivedAtMs: atMs });
  await until('the erasure is known', isKnown);
}

const isDone = (id: string): Promise<boolean> => isIn(id, 'done');

/** Fills the part of the retry log that replays may use. It stays full while no dispatcher runs. */
async function fillRoom(frames = framesWaitingMax): Promise<void> {
  const subject = retrySubject(rig.destinationId, replayTier);
  for (let frame = 0; frame < frames; frame += 1) {
    await publish(rig.connection, subject, new Uint8Array(), { msgId: randomUUID(), timeoutMs: 30_000 });
  }
}

test('replay: dead letters: all are sent again with the ids they had, and are no longer dead letters', async () => {
  const dispatcher = await refuseAll(20);
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it is done', () => isDone(id));
  dispatcher.retriesStored(replayTier);
  await until('all arrived', () => sink.taken().length === 20);
  expect(sink.taken().toSorted()).toEqual(
    numbered(20)
      .map((event) => event.id)
      .toSorted(),
  );
  expect(await rig.deadLetters()).toEqual([]);
  const job = await replayStore.find(rig.destinationId, id);
  expect(job).toMatchObject({ state: 'done', scanned: 20, queued: 20 });
  expect(job === undefined ? 0 : shareDone(job)).toBe(1);
  const again = await replay({ what: 'dead-letters' });
  await until('it is done', () => isDone(again.id));
  expect(await replayStore.find(rig.destinationId, again.id)).toMatchObject({ queued: 0 });
  expect((await replayStore.list(rig.destinationId)).map((job) => job.id)).toEqual([again.id, id]);
});

test('replay: dead letters: a replay may be limited to one reason, or to the named events', async () => {
  const dispatcher = await refuseAll(2, 422);
  await dispatcher.stop(1_000);
  sink.answer(() => 410);
  const next = await rig.start();
  await rig.send([{ id: 'other' }]);
  await idle();
  sink.answer(() => 200);
  await run();
  const { id } = await replay({ what: 'dead-letters', reason: 'status 410' });
  await until('it is done', () => isDone(id));
  next.retriesStored(replayTier);
  await until('it arrived', () => sink.taken().join() === 'other');
  const [first, second, ...more] = (await rig.deadLetters()).map(({ event }) => event.event.id);
  expect(more).toEqual([]);
  const named = await replay({ what: 'dead-letters', eventIds: [second ?? '', 'nothing'] });
  await until('it is done', () => isDone(named.id));
  next.retriesStored(replayTier);
  await until('it arrived', () => sink.taken().join() === `other,${second}`);
  expect((await rig.deadLetters()).map(({ event }) => event.event.id)).toEqual([first]);
});

test('replay: dead letters: events that are refused again become dead letters again', async () => {
  const dispatcher = await refuseAll(3);
  sink.answer(() => 400);
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it is done', () => isDone(id));
  dispatcher.retriesStored(replayTier);
  await until('they are refused', () => sink.requests.length === 6);
  await until('they are back', async () => (await rig.deadLetters()).length === 3);
  expect((await rig.deadLetters()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
});

test('replay: log: sends the events of a time range again, whatever their outcome was, by the current rules', async () => {
  const dispatcher = await rig.start();
  const fromMs = Date.now();
  await rig.send([...numbered(3), { id: 'test', test: true }]);
  await idle();
  await until('the range is over', () => Date.now() > fromMs + 50);
  const toMs = Date.now();
  await rig.send([{ id: 'later' }]);
  await idle();
  expect(sink.taken()).toHaveLength(4);
  await run();
  const { id } = await replay({ what: 'log', fromMs, toMs });
  await until('it is done', () => isDone(id));
  dispatcher.retriesStored(replayTier);
  await until('all arrived again', () => sink.taken().length === 7);
  expect(sink.taken().slice(4).toSorted()).toEqual(['e0', 'e1', 'e2']);
  // If the range ends in the future, the replay ends with the newest message.
  const open = await replay({ what: 'log', fromMs: toMs, toMs: Date.now() + 3_600_000 });
  await until('it is done', () => isDone(open.id));
  expect(await replayStore.find(rig.destinationId, open.id)).toMatchObject({ scanned: 1, queued: 1 });
  const coming = await replay({ what: 'log', fromMs: Date.now() + 60_000, toMs: Date.now() + 3_600_000 });
  await until('it is done', () => isDone(coming.id));
  expect(await replayStore.find(rig.destinationId, coming.id)).toMatchObject({ scanned: 0, queued: 0 });
});

test('replay: dead letters: the first attempt after a replay is not mistaken for the attempt before it', async () => {
  const answers = [503, 400, 503, 200];
  sink.answer(() => answers[sink.requests.length - 1] ?? 200);
  const dispatcher = await rig.start();
  await rig.send([{ id: 'e0' }]);
  await until('it is a dead letter', async () => (await rig.deadLetters()).length === 1);
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it is done', () => isDone(id));
  dispatcher.retriesStored(replayTier);
  await until('it arrived', () => sink.taken().join() === 'e0');
  expect(sink.requests).toHaveLength(4);
});

test('replay: dead letters: two replays run one after the other, so no event is sent twice', async () => {
  const dispatcher = await refuseAll(20);
  const first = await replay({ what: 'dead-letters' });
  const second = await replay({ what: 'dead-letters', reason: 'status 400' });
  expect((await replay({ what: 'dead-letters' })).id).toBe(first.id);
  await run();
  await until('both are done', async () => (await isDone(first.id)) && isDone(second.id));
  dispatcher.retriesStored(replayTier);
  await until('all arrived', () => sink.taken().length >= 20);
  await until('the retry log is empty', async () => (await rig.retries()).size === 0);
  expect(sink.taken()).toHaveLength(20);
  expect(await replayStore.find(rig.destinationId, second.id)).toMatchObject({ queued: 0 });
});

test('replay: ask: a replay beyond the number that may wait for a destination is refused', async () => {
  for (let fromMs = 0; fromMs < replaysWaitingMax; fromMs += 1) await replay({ what: 'log', fromMs, toMs: 100 });
  await expect(replay({ what: 'dead-letters' })).rejects.toThrow(TooManyReplaysError);
  const [newest] = await replayStore.list(rig.destinationId);
  await replayStore.cancel(rig.destinationId, newest?.id ?? '');
  expect(await replay({ what: 'dead-letters' })).toMatchObject({ state: 'waiting' });
});

test('replay: ask: a replay beyond the number that may wait for an account is refused; other accounts’ replays do not count', async () => {
  const job = await replay({ what: 'dead-letters' });
  const waiting: string[] = [];
  const fillAccount = async (accountId: string): Promise<void> => {
    const jobs = Array.from({ length: 99 }, () => ({
      ...job,
      accountId,
      id: randomUUID(),
      destinationId: randomUUID(),
    }));
    waiting.push(...jobs.map(({ destinationId, id }) => replayKey(destinationId, id)));
    await Promise.all(jobs.map((one) => rig.replays.put(replayKey(one.destinationId, one.id), encodeReplay(one))));
  };
  try {
    await fillAccount(randomUUID());
    expect(await replay({ what: 'log', fromMs: 0, toMs: 1 })).toMatchObject({ state: 'waiting' });
    await fillAccount(rig.accountId);
    await expect(replay({ what: 'log', fromMs: 1, toMs: 2 })).rejects.toThrow('too many replays of the account wait');
  } finally {
    await Promise.all(waiting.map((key) => rig.replays.delete(key)));
  }
});

test('replay: cancel: ends a replay, before it begins and in the middle', async () => {
  const dispatcher = await refuseAll(3);
  await dispatcher.stop(5_000);
  const waiting = await replay({ what: 'dead-letters' });
  expect(await replayStore.cancel(rig.destinationId, waiting.id)).toMatchObject({ state: 'cancelled' });
  expect(await replayStore.cancel(rig.destinationId, randomUUID())).toBeUndefined();
  await fillRoom();
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it has begun', () => isIn(id, 'running'));
  expect(await replayStore.cancel(rig.destinationId, id)).toMatchObject({ state: 'cancelling' });
  await until('it is cancelled', () => isIn(id, 'cancelled'));
  expect(await replayStore.cancel(rig.destinationId, id)).toMatchObject({ state: 'cancelled' });
  expect(await rig.deadLetters()).toHaveLength(3);
});

test('replay: live: a replay waits while its destination is not published', async () => {
  const dispatcher = await refuseAll(3);
  await dispatcher.stop(5_000);
  await fillRoom();
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it has begun', () => isIn(id, 'running'));
  isLive = false;
  await until('it waits', () => isIn(id, 'waiting'));
  expect(await replayStore.find(rig.destinationId, id)).not.toHaveProperty('owner');
  await purgeSubject(rig.connection, streams.retry, retrySubject(rig.destinationId, replayTier));
  isLive = true;
  await until('it is done', () => isDone(id));
  expect(await rig.deadLetters()).toEqual([]);
});

test('replay: dead letters of erased visitors are deleted, and nothing of them is sent again', async () => {
  const dispatcher = await refuseAll(6);
  await erase('e1', 'e4');
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  await until('it is done', () => isDone(id));
  dispatcher.retriesStored(replayTier);
  await until('the others arrived', () => sink.taken().length === 4);
  expect(sink.taken().toSorted()).toEqual(['e0', 'e2', 'e3', 'e5']);
  expect(await rig.deadLetters()).toEqual([]);
  expect(await replayStore.find(rig.destinationId, id)).toMatchObject({ scanned: 6, queued: 4 });
});

test('replay: log: events of erased visitors are not sent again, even if the erasure comes while they wait for the destination', async () => {
  const fromMs = Date.now();
  const first = await rig.start();
  await rig.send(numbered(6));
  await idle();
  await first.stop(1_000);
  const arrived = sink.taken().length;
  await erase('e1');
  await run();
  const { id } = await replay({ what: 'log', fromMs, toMs: Date.now() + 1 });
  await until('it is done', () => isDone(id));
  await erase('e2');
  const dispatcher = await rig.start();
  dispatcher.retriesStored(replayTier);
  await until('the others arrived', () => sink.taken().length === arrived + 4);
  expect(sink.taken().slice(arrived).toSorted()).toEqual(['e0', 'e3', 'e4', 'e5']);
  expect(dispatcher.stats()).toMatchObject({ erased: 1 });
  expect(await replayStore.find(rig.destinationId, id)).toMatchObject({ queued: 5 });
});

test('replay: crash: events that were queued but not recorded as queued are sent again, and no event is lost', async () => {
  const dispatcher = await refuseAll(300);
  const { letters } = await listDeadLetters(
    rig.connection,
    rig.destinationId,
    { limit: 300 },
    { bytesMax: 1024 ** 2, timeMs: 60_000, isErased: () => false },
  );
  const events = letters.toReversed().map(({ seq, letter: { origin, event } }) => {
    const line = encodeResolved(event);
    return { seq, origin, event, line, characters: line.length };
  });
  const firstSeq = events[0]?.seq ?? 0;
  const job = await replay({ what: 'dead-letters' });
  // The state that an instance leaves if it dies while it removes dead letters that it has queued.
  const begun: ReplayJob = { ...job, state: 'running', firstSeq, nextSeq: firstSeq, endSeq: events.at(-1)?.seq ?? 0 };
  await rig.replays.put(replayKey(rig.destinationId, job.id), encodeReplay({ ...begun, owner: 'test' }));
  const working = {
    connection: rig.pipelineConnection,
    turns: new ReplayTurns().ofReplay(),
    signal: new AbortController().signal,
  };
  await queueEvents(working, begun, events.slice(0, 256));
  for (const { seq } of events.slice(0, 100)) await deleteMessage(rig.connection, streams.deadLetters, seq);
  await run();
  await until('it is done', () => isDone(job.id));
  dispatcher.retriesStored(replayTier);
  await until('all arrived', () => new Set(sink.taken()).size === 300);
  expect(await rig.deadLetters()).toEqual([]);
});

test('replay: crash: another instance takes over a replay without recorded progress', async () => {
  const dispatcher = await refuseAll(3);
  const job = await replay({ what: 'dead-letters' });
  // The clock of the previous owner was an hour ahead.
  const left: ReplayJob = { ...job, state: 'running', owner: 'gone', updatedAtMs: Date.now() + 3_600_000 };
  await rig.replays.put(replayKey(rig.destinationId, job.id), encodeReplay(left));
  await run({ abandonedAfterMs: 300 });
  await until('it is done', () => isDone(job.id));
  expect(await replayStore.find(rig.destinationId, job.id)).toMatchObject({ owner: 'test', queued: 3 });
  dispatcher.retriesStored(replayTier);
  await until('all arrived', () => sink.taken().length === 3);
});

test('replay: restart: a replay continues from its recorded progress', async () => {
  const dispatcher = await refuseAll(300);
  await dispatcher.stop(5_000);
  // Leaves room for a batch of 256 events, but not for the next batch.
  await fillRoom(framesWaitingMax - 3);
  await run();
  const { id } = await replay({ what: 'dead-letters' });
  // No dispatcher reads the retry log, so the replay waits for room after its first batch.
  await until('it waits for room', async () => (await replayStore.find(rig.destinationId, id))?.queued === 256);
  const subject = retrySubject(rig.destinationId, replayTier);
  expect((await countBySubject(rig.connection, streams.retry, subject)).get(subject)).toBe(framesWaitingMax);
  await runner?.stop();
  await run();
  const next = await rig.start();
  await until('it is done', async () => {
    next.retriesStored(replayTier);
    return isDone(id);
  });
  await until('all arrived', () => new Set(sink.taken()).size === 300);
  expect(await rig.deadLetters()).toEqual([]);
});
