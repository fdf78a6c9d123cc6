import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats-server.ts';
import { replayTier } from '../../shared/events/retry-record.ts';
import { listDeadLetters } from '../../shared/replay/list-dead-letters.ts';
import type { ReplayRequest } from '../../shared/replay/replay-job.ts';
import { createReplayDesk } from '../../shared/replay/replay-desk.ts';
import type { ReplayDesk } from '../../shared/replay/replay-desk.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { createDispatcherRig } from '../dispatch/testing/dispatcher-rig.ts';
import type { DispatcherRig } from '../dispatch/testing/dispatcher-rig.ts';
import type { DispatcherActor } from '../dispatch/dispatcher.ts';
import { httpEntity } from '../testing/account-config.ts';
import { startScriptedSink } from '../testing/scripted-sink.ts';
import type { ScriptedSink } from '../testing/scripted-sink.ts';
import { until } from '../testing/until.ts';
import { startReplayRunner } from './replay-runner.ts';
import type { ReplayRunner } from './replay-runner.ts';

let nats: NatsServer;
let sink: ScriptedSink;
let rig: DispatcherRig;
let desk: ReplayDesk;
let runner: ReplayRunner | undefined;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  sink = await startScriptedSink();
  rig = await createDispatcherRig(nats.url);
  rig.configure({ destinations: [httpEntity(rig.destinationId, sink.url)] });
  desk = createReplayDesk(rig.replays);
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  await rig.close();
  await sink.close();
});

const run = async (instanceId = 'test'): Promise<void> => {
  const logger = pino({ level: 'silent' });
  runner = await startReplayRunner({ connection: rig.connection, bucket: rig.replays, instanceId, logger });
};
const replay = (request: ReplayRequest) => desk.start(rig.accountId, rig.destinationId, request);
const idle = (): Promise<void> => until('everything is acknowledged', async () => (await rig.unfinished()) === 0);
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `e${i}` }));

/** Sends events the destination refuses, so that each becomes a dead letter. */
async function bury(count: number, status = 400): Promise<DispatcherActor> {
  sink.answer(() => status);
  const dispatcher = await rig.start();
  await rig.send(numbered(count));
  await idle();
  sink.answer(() => 200);
  return dispatcher;
}

async function isDone(id: string): Promise<boolean> {
  return (await desk.find(rig.destinationId, id))?.state === 'done';
}

describe('dead letters', () => {
  it('list: newest first, page by page', async () => {
    await bury(5);
    const first = await listDeadLetters(rig.connection, rig.destinationId, { limit: 3 });
    expect(first.letters).toHaveLength(3);
    const second = await listDeadLetters(rig.connection, rig.destinationId, {
      limit: 3,
      beforeSeq: first.nextBeforeSeq,
    });
    expect(second.nextBeforeSeq).toBeUndefined();
    const all = [...first.letters, ...second.letters];
    expect(all.map(({ letter }) => letter.event.event.id).toSorted()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((a, b) => b - a));
    expect(await listDeadLetters(rig.connection, randomUUID(), { limit: 3 })).toEqual({ letters: [] });
  });
});

describe('replay', () => {
  it('dead letters: all are sent again with the ids they had, and are none any more', async () => {
    const dispatcher = await bury(20);
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
    expect(await desk.find(rig.destinationId, id)).toMatchObject({ state: 'done', scanned: 20, queued: 20 });
    const again = await replay({ what: 'dead-letters' });
    await until('it is done', () => isDone(again.id));
    expect(await desk.find(rig.destinationId, again.id)).toMatchObject({ queued: 0 });
    expect((await desk.list(rig.destinationId)).map((job) => job.id)).toEqual([again.id, id]);
  });

  it('dead letters: only those of a reason', async () => {
    const dispatcher = await bury(2, 422);
    await dispatcher.stop(1_000);
    sink.answer(() => 404);
    const next = await rig.start();
    await rig.send([{ id: 'other' }]);
    await idle();
    sink.answer(() => 200);
    await run();
    const { id } = await replay({ what: 'dead-letters', reason: 'status 404' });
    await until('it is done', () => isDone(id));
    next.retriesStored(replayTier);
    await until('it arrived', () => sink.taken().join() === 'other');
    expect(await rig.deadLetters()).toHaveLength(2);
  });

  it('dead letters: refused again, they are dead letters again', async () => {
    const dispatcher = await bury(3);
    sink.answer(() => 400);
    await run();
    const { id } = await replay({ what: 'dead-letters' });
    await until('it is done', () => isDone(id));
    dispatcher.retriesStored(replayTier);
    await until('they are refused', () => sink.requests.length === 6);
    await until('they are back', async () => (await rig.deadLetters()).length === 3);
    expect((await rig.deadLetters()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  it('log: sends a time range again, whatever became of it, by the rules of now', async () => {
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
  });

  it('cancel: ends it, before it begins and in the middle', async () => {
    await bury(3);
    const waiting = await replay({ what: 'dead-letters' });
    await desk.cancel(rig.destinationId, waiting.id);
    await run();
    const isCancelled = async (id: string): Promise<boolean> =>
      (await desk.find(rig.destinationId, id))?.state === 'cancelled';
    await until('it is cancelled', () => isCancelled(waiting.id));
    expect(await rig.deadLetters()).toHaveLength(3);
    expect(await desk.cancel(rig.destinationId, waiting.id)).toMatchObject({ state: 'cancelled' });
    expect(await desk.cancel(rig.destinationId, randomUUID())).toBeUndefined();
  });

  it('restart: another instance goes on where the first one was', async () => {
    const dispatcher = await bury(4_300);
    await dispatcher.stop(5_000);
    await run('one');
    const { id } = await replay({ what: 'dead-letters' });
    // Nobody takes them off the retry log, so it waits for room in the middle.
    await until('it waits for room', async () => ((await desk.find(rig.destinationId, id))?.queued ?? 0) >= 4_096);
    await runner?.stop();
    await run('one');
    const next = await rig.start();
    await until('it is done', async () => {
      next.retriesStored(replayTier);
      return isDone(id);
    });
    await until('all arrived', () => new Set(sink.taken()).size === 4_300);
    expect(await rig.deadLetters()).toEqual([]);
  });
});
