import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { encodeRetryRecord, parkedTier, settledNoteTier } from '../../../shared/contracts/events/retry-record.ts';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { ConsumerTakenError } from '../../../shared/nats/consume/consumers.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { every } from '../../../shared/runtime/every.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { LogGate } from '../../../shared/testing/log-gate.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { noSuspicion } from '../worker/suspicion.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { openGatedRig } from './testing/gated-rig.ts';
import type { GatedRig } from './testing/gated-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';
import { SettledNotes } from './waiting/settled-notes.ts';

let nats: NatsServer;
let gated: GatedRig;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let gate: LogGate;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  gated = await openGatedRig(nats.url);
  ({ sink, rig, gate, connection } = gated);
});
afterEach(async () => {
  await gated.close();
});

const settings = { healthFlushMs: 20, retryPolicyOf: quickRetries };
const retriesOf = (tier: number | '*'): string => `retry.${rig.destinationId}.${tier}`;
const deadLetters = (): string => `dead.${rig.destinationId}`;
const acknowledged = (): number[] => gate.acknowledged(streams.events);
const asked = (id: string): number => sink.requests.filter(({ body }) => idsOf(body).includes(id)).length;
const seqOf = (frame: number): number => rig.frameSeqs[frame] ?? expect.unreachable();

/** Sets the answer for each event id, as requests contain one event; 200 for other ids. */
const answerTo = (answers: Readonly<Record<string, number | 'hang'>>): void =>
  sink.answer(({ body }) => answers[idsOf(body)[0] ?? ''] ?? 200);

/** Starts a dispatcher on the gated connection, and waits until it has acknowledged an event. */
async function startGated(own: { readonly eventWorkMax?: number } = {}): Promise<void> {
  const dispatcher = await rig.start({ ...settings, ...own }, 'gated', connection);
  dispatcher.done.catch(() => undefined);
  await rig.send([{ id: 'first' }]);
  await until('the first event is acknowledged', () => acknowledged().includes(seqOf(0)));
}

/**
 * Sends an event that nothing delays, and waits until it is acknowledged: by then any effect that did not wait has
 * happened, too.
 */
async function otherEventIsDone(): Promise<number> {
  await rig.send([{ id: 'other' }]);
  const seq = seqOf(rig.frameSeqs.length - 1);
  await until('the other event is acknowledged', () => acknowledged().includes(seq));
  return seq;
}

/**
 * Cuts the dispatcher off from the log and starts its successor, whose requests are all answered 200. If the dispatcher
 * reconnects while its consumer is made again, it may make it first: the successor then starts again, as a supervisor
 * starts it.
 */
async function succeed(): Promise<void> {
  gate.cut();
  sink.answer(() => 200);
  for (;;) {
    try {
      await rig.start(settings, 'successor');
      return;
    } catch (error) {
      if (!(error instanceof ConsumerTakenError)) throw error;
    }
  }
}
const delivered = (id: string): Promise<void> => until(`${id} is delivered`, () => sink.taken().includes(id));

test.each([
  { stored: 'retry log', status: 500, subject: () => retriesOf('*') },
  { stored: 'dead letters', status: 400, subject: deadLetters },
])('order of effects: a failed event is acknowledged only once it is in the $stored', async ({ status, subject }) => {
  answerTo({ failed: status });
  await startGated();
  const held = gate.hold(subject());
  await rig.send([{ id: 'failed' }]);
  await held.arrived;
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([seqOf(0), other]);
  await succeed();
  await delivered('failed');
});

test.each([
  { stored: 'retry log', status: 500, subject: () => retriesOf('*') },
  { stored: 'dead letters', status: 400, subject: deadLetters },
])(
  'order of effects: a failed event is acknowledged once it is in the $stored, after refusals',
  async ({ status, subject }) => {
    answerTo({ failed: status });
    await startGated();
    const refused = gate.refuse(subject());
    await rig.send([{ id: 'failed' }]);
    await until('it was refused', () => refused.messages.length >= 2);
    expect(acknowledged()).toEqual([seqOf(0)]);
    refused.release();
    await until('it is acknowledged', () => acknowledged().includes(seqOf(1)));
    expect((await rig.deadLetters()).length + (await rig.retryRecords()).length).toBeGreaterThan(0);
  },
);

test('order of effects: an unreadable line is acknowledged only once the dead letters have it', async () => {
  await startGated();
  const held = gate.hold(deadLetters());
  await rig.sendRaw('no event\n');
  await held.arrived;
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([seqOf(0), other]);
  await succeed();
  await until('it is kept', async () => (await rig.unreadable()).length === 1);
});

test('order of effects: an event that takes too much work is acknowledged only once the dead letters have it', async () => {
  const logic = { condition: { property: 'event.event', operator: 'Contains', value: 'y'.repeat(3_000) } };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)],
    mappings: [{ id: 'm', destinationId: rig.destinationId, priority: 1, isEnabled: true, logic, action: 'stop' }],
  });
  await startGated({ eventWorkMax: 10_000 });
  const held = gate.hold(deadLetters());
  await rig.send([{ id: 'heavy', name: 'x'.repeat(3_000) }]);
  await held.arrived;
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([seqOf(0), other]);
  gate.cut();
  await rig.start({ ...settings, eventWorkMax: 10_000 }, 'successor');
  await until('it is kept', async () => (await rig.deadLetters()).length === 1);
});

test('order of effects: a quarantined frame is acknowledged only once the dead letters have it', async () => {
  await rig.send([{ id: 'deadly' }]);
  const held = gate.hold(deadLetters());
  const suspicion = { ...noSuspicion, log: { watched: undefined, quarantined: [{ seq: seqOf(0) }] } };
  const dispatcher = await rig.start({ ...settings, suspicion }, 'gated', connection);
  dispatcher.done.catch(() => undefined);
  await held.arrived;
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([other]);
  gate.cut();
  await rig.start({ ...settings, suspicion }, 'successor');
  await until('it is kept', async () => (await rig.deadLetters()).length === 1);
});

test('order of effects: an event that is received a second time is acknowledged only once the first copy is parked', async () => {
  answerTo({ failed: 500 });
  await startGated();
  await rig.send([{ id: 'failed', visitor: 'v' }]);
  await until('the failed event is acknowledged', () => acknowledged().includes(seqOf(1)));
  const held = gate.hold(retriesOf(parkedTier));
  await rig.send([{ id: 'behind', visitor: 'v' }]);
  await held.arrived;
  await rig.send([{ id: 'behind', visitor: 'v' }]);
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([seqOf(0), seqOf(1), other]);
});

test('order of effects: an event behind a failed one of its visitor is acknowledged only once it is parked', async () => {
  answerTo({ failed: 500 });
  await startGated();
  await rig.send([{ id: 'failed', visitor: 'v' }]);
  await until('the failed event is acknowledged', () => acknowledged().includes(seqOf(1)));
  const held = gate.hold(retriesOf(parkedTier));
  await rig.send([{ id: 'behind', visitor: 'v' }]);
  await held.arrived;
  const other = await otherEventIsDone();
  expect(acknowledged()).toEqual([seqOf(0), seqOf(1), other]);
  await succeed();
  await delivered('behind');
  expect(sink.taken().indexOf('failed')).toBeLessThan(sink.taken().indexOf('behind'));
});

/** Stores events in the retry log, one frame each, and waits until the destination has received each event twice. */
async function retryTwice(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const before = acknowledged().length;
    await rig.send([{ id }]);
    await until(`${id} is stored`, () => acknowledged().length > before);
  }
  await until('all were retried', () => ids.every((id) => asked(id) >= 2));
}

const removals = (): number =>
  gate.passed.filter(({ subject }) => subject === `$JS.API.STREAM.PURGE.${streams.retry}`).length;

test('order of effects: a retried event leaves the retry log only once its next record is stored', async () => {
  answerTo({ failed: 500 });
  await startGated();
  await rig.send([{ id: 'failed' }]);
  await until('it is stored', () => acknowledged().includes(seqOf(1)));
  const held = gate.hold(retriesOf('*'), 'failed');
  await held.arrived;
  await retryUntilRemoved();
  await succeed();
  await delivered('failed');
  expect(await rig.deadLetters()).toEqual([]);
});

/** Sends events that fail once and then succeed, until the dispatcher has removed finished frames of their tier. */
async function retryUntilRemoved(): Promise<void> {
  const before = removals();
  for (let n = 0; removals() === before; n += 1) {
    const id = `once-${n}`;
    sink.answer(({ body }) => (idsOf(body)[0] === 'failed' || (idsOf(body)[0] === id && asked(id) === 1) ? 500 : 200));
    await rig.send([{ id }]);
    await delivered(id);
  }
}

test('order of effects: a retry in flight stays in the retry log while later frames are finished and removed', async () => {
  const failures = new Map<string, number>();
  sink.answer(({ body }) => {
    const [id = ''] = idsOf(body);
    if (!id.startsWith('retried')) return 200;
    failures.set(id, (failures.get(id) ?? 0) + 1);
    if (failures.get(id) === 1) return 500;
    return id === 'retried-1' ? 'hang' : 200;
  });
  await startGated();
  // The first event's frame is finished and precedes the frame that is held up, so that there is something to remove.
  await retryTwice(['retried-0', 'retried-1', 'retried-2']);
  const before = removals();
  await delivered('retried-2');
  await until('what is finished is removed', () => removals() > before);
  expect((await rig.retryRecords()).map(({ eventId }) => eventId)).toContain('retried-1');
  await succeed();
  await delivered('retried-1');
});

test('order of effects: a note of settled lines leaves the retry log only once the next note is stored', async () => {
  const own = new SettledNotes({ connection, destinationId: rig.destinationId });
  await own.write([[7, { settled: [0] }]]);
  const held = gate.hold(retriesOf(settledNoteTier));
  const written = own.write([[7, { settled: [0, 1] }]]);
  await held.arrived;
  const successor = new SettledNotes({ connection, destinationId: rig.destinationId });
  expect([await successor.read(), successor.isSettled({ seq: 7, index: 0 })]).toEqual([true, true]);
  held.release();
  await written;
});

/** Parks events, each of its own visitor, in one frame. Returns the sequence of the frame. */
async function park(...ids: readonly string[]): Promise<number> {
  const times = { firstAttemptAt: 1, lastAttemptAt: 1, notBefore: 1 };
  const lines = ids.map((id) => {
    const sample = sampleEvent({ id, account_id: rig.accountId });
    const resolved = { ...sample, visitor: { ...sample.visitor, id } };
    return `${encodeRetryRecord({ attempts: 0, reason: 'test', ...times, ...copied(resolved) })}\n`;
  });
  const options = { msgId: randomUUID(), timeoutMs: 5_000 };
  const { seq } = await publish(rig.connection, retriesOf(parkedTier), Buffer.from(lines.join('')), options);
  return seq;
}

test('order of effects: a dispatcher that opens replaces the note of settled lines only once it has read all parked frames', async () => {
  const frames = [await park('a', 'b'), await park('c', 'd')];
  const own = new SettledNotes({ connection: rig.connection, destinationId: rig.destinationId });
  await own.write(frames.map((seq) => [seq, { settled: [0] }]));
  const held = gate.hold('$JS.API.STREAM.MSG.GET.*', `"seq":${frames[1]},"next_by_subj":"${retriesOf(parkedTier)}"`);
  const opening = rig.start(settings, 'gated', connection).then(
    () => 'open',
    () => 'failed',
  );
  await held.arrived;
  // A task that is repeated as often as notes are written.
  let turns = 0;
  const other = every(1_000, () => void (turns += 1));
  await until('another task has had its turns', () => turns >= 2);
  await other.stop();
  await succeed();
  await rig.retryLogIsEmpty();
  expect(sink.taken().toSorted()).toEqual(['b', 'd']);
  expect(await opening).toBe('failed');
});
