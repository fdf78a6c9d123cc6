import { expect, test } from 'vitest';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import { replayTier, retryTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { createDispatcherCounts } from '../dispatcher-stats.ts';
import { DispatchItem } from '../sources/dispatch-item.ts';
import { FrameLine, wholeEvent } from '../events/read-event.ts';
import { ParkedFrames } from '../waiting/parked-frames.ts';
import { VisitorOrder } from '../waiting/visitor-order.ts';
import { WaitingVisitors } from '../waiting/waiting-visitors.ts';
import { createKeepUntried } from './keep-untried.ts';
import { createRetryPolicy } from './retry-policy.ts';
import type { ReadEvent } from '../events/read-event.ts';
import type { Attempt } from '../sending/deliver.ts';
import { Outbox } from './outbox.ts';
import type { CountedHead } from '../health/delivery-tables.ts';
import type { Skipped } from '../health/health-keeper.ts';
import { HeldReferences } from '../events/held-references.ts';
import { notAttempted } from '../events/attempted.ts';
import { parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { Whereabouts } from './outbox.ts';

const parkedAs = { attempted: notAttempted, origin: undefined, receivedAtMs: 0, isCopied: true };

function itemOf(
  id: string,
  heldAtMs?: number,
  event: ReadEvent = wholeEvent(sampleEvent({ id }), 100),
  tier = retryTier(0),
): DispatchItem {
  const source = { kind: 'retry', frame: { tier, seq: 1, bytes: 1, eventBytes: 1, losses: 0 } } as const;
  const frame = { source, bytes: 0, left: 1, settled: undefined, sinceMs: 0, isStarted: true, slot: 0 };
  return new DispatchItem(frame, event, { attempts: 0, firstAttemptAtMs: undefined, heldAtMs });
}

/** An order of visitors that is only in memory and never reads the log. */
const orderOf = (waiting: WaitingVisitors): VisitorOrder =>
  new VisitorOrder({
    comesAgain: () => false,
    waiting,
    frames: new ParkedFrames({
      connection: {} as never,
      destinationId: 'd',
      references: new HeldReferences(),
      warn: () => undefined,
    }),
    limits: { visitorsMax: 100, eventsMax: 100, bytesMax: 1_000_000 },
    counts: createDispatcherCounts(),
    load: () => Promise.resolve([]),
    warn: () => undefined,
  });

/**
 * An outbox; records the retry records and dead letters that it writes, and the events that it skips if the logs are
 * full.
 */
function open({
  retriesFull = false,
  deadLettersFull = false,
  order,
}: { retriesFull?: boolean; deadLettersFull?: boolean; order?: VisitorOrder } = {}) {
  const skipped: (readonly [fromMs: number, events: number, toMs: number | undefined])[] = [];
  const retries: { tier: number; record: RetryRecord; isReplacement: boolean }[] = [];
  const letters: (Omit<DeadLetter, 'v' | 'destinationId' | 'event'> & { readonly event: string })[] = [];
  const health: string[] = [];
  const moves: string[] = [];
  const counts = createDispatcherCounts();
  const records = {
    isErased: () => false,
    health: {
      record: (count: string, events: number) => void health.push(`${count} ${events}`),
      countMove: (_: CountedHead, from: string, to: string) => void moves.push(`${from} > ${to}`),
      skipped: (_: string, { fromMs, events, toMs }: Skipped) => void skipped.push([fromMs, events, toMs]),
    },
    deadLetters: {
      add(letter: (typeof letters)[number]) {
        if (!deadLettersFull) letters.push(letter);
        return Promise.resolve(!deadLettersFull);
      },
      addUnreadable: () => Promise.resolve(!deadLettersFull),
    },
    observe: () => undefined,
    counts,
  };
  const outbox = new Outbox({
    ...records,
    keepUntried: createKeepUntried(records),
    keepFrame: () => undefined,
    retryWriter: {
      add: (tier, record, isReplacement) => {
        if (retriesFull) return Promise.resolve(undefined);
        retries.push({ tier, record, isReplacement });
        return Promise.resolve({ seq: 1, index: 0, records: 1, bytes: 1 });
      },
    },
    retryPolicy: createRetryPolicy(60_000, 30_000),
    sourceActivity: { dispatched: () => undefined },
    order,
  });
  return { outbox, retries, letters, health, moves, skipped, counts };
}

async function stored(whereabouts: readonly Whereabouts[]): Promise<void> {
  for (const at of whereabouts) await at;
}

const answered = (outcome: Attempt['outcome']): Attempt => ({
  outcome,
  request: { method: 'POST', host: 'to', status: 1 },
});

test('outbox: each event of a batch is stored or settled according to its outcome, and counted', async () => {
  const { outbox, retries, letters, health, moves, counts } = open();
  const outcomes = [
    answered({ kind: 'delivered' }),
    answered({ kind: 'retry', reason: 'busy' }),
    answered({ kind: 'reject', reason: 'no' }),
  ];
  const whereabouts = outbox.settle(
    ['a', 'b', 'c'].map((id) => itemOf(id)),
    outcomes,
    false,
  );
  expect(whereabouts[0]).toBe('settled');
  await stored(whereabouts);
  expect(retries.map(({ record }) => [record.eventId, record.attempts, record.reason])).toEqual([['b', 1, 'busy']]);
  expect(letters.map(({ event, reason }) => [parseResolved(event).event.id, reason])).toEqual([['c', 'no']]);
  expect(health).toEqual(['succeeded 1', 'failed 2']);
  expect(moves).toEqual(['waiting > delivered', 'waiting > dead refused', 'waiting > retrying']);
  expect(counts).toMatchObject({ delivered: 1, failed_attempts: 2, retries: 1, dead_letters_refused: 1 });
});

test('outbox: an unsent event goes back to the retry log and is due at once, even when the destination keeps no order', async () => {
  const { outbox, retries, health } = open();
  const before = Date.now();
  const whereabouts = outbox.settle(
    [itemOf('first'), itemOf('second')],
    [answered({ kind: 'retry', reason: 'x' }), undefined],
    false,
  );
  expect(whereabouts).not.toContain('settled');
  await stored(whereabouts);
  const second = retries.find(({ record }) => record.eventId === 'second');
  expect(second).toMatchObject({ tier: retryTier(0), record: { attempts: 0 } });
  expect(second?.record.notBefore).toBeGreaterThanOrEqual(before);
  expect(second?.record.notBefore).toBeLessThanOrEqual(Date.now());
  expect(health).toEqual(['failed 1']);
});

test('outbox: the record of a retry replaces an earlier one; that of a replay does not, so that the quota limits it', async () => {
  const { outbox, retries } = open();
  const replay = (id: string): DispatchItem => itemOf(id, undefined, undefined, replayTier);
  const busy = answered({ kind: 'retry', reason: 'busy' });
  await stored(outbox.settle([itemOf('again')], [busy], false));
  await stored(outbox.settle([replay('replayed')], [busy], false));
  const parked = outbox.park(replay('behind'), orderOf(new WaitingVisitors()));
  outbox.storeNextParked();
  await parked;
  expect(retries.map(({ record, isReplacement }) => [record.eventId, isReplacement])).toEqual([
    ['again', true],
    ['replayed', false],
    ['behind', false],
  ]);
});

test('outbox: an event that the retry log has no room for is a dead letter, attempts and reason included', async () => {
  const { outbox, letters, moves, counts, skipped } = open({ retriesFull: true });
  await stored(outbox.settle([itemOf('a')], [answered({ kind: 'retry', reason: 'busy' })], false));
  expect(letters.map(({ event, attempts, reason }) => [parseResolved(event).event.id, attempts, reason])).toEqual([
    ['a', 1, 'no room in the retry log: busy'],
  ]);
  expect(counts).toMatchObject({ retries: 0, dead_letters: 1, dead_letters_no_room: 1, missed_events: 0 });
  expect(skipped).toEqual([]);
  expect(moves).toEqual(['waiting > dead no_room']);
});

test('outbox: if the dead letters have no room either, the event is recorded as skipped, with the time it was received', async () => {
  const { outbox, counts, skipped } = open({ retriesFull: true, deadLettersFull: true });
  const item = itemOf('a');
  await stored(outbox.settle([item], [answered({ kind: 'retry', reason: 'busy' })], false));
  expect(counts).toMatchObject({ retries: 0, missed_events: 1 });
  expect(skipped).toEqual([[item.head.receivedAtMs, 1, expect.any(Number)]]);
});

test('outbox: after an event is skipped, the next event of its visitor may go', async () => {
  const order = orderOf(new WaitingVisitors());
  const { outbox } = open({ retriesFull: true, deadLettersFull: true, order });
  await stored(outbox.settle([itemOf('a')], [answered({ kind: 'retry', reason: 'busy' })], false));
  expect(order.placeOf(itemOf('b'))).toBe('next');
});

const keyRefused = answered({ kind: 'retry', reason: 'status 401', refusesAccess: true });

test('outbox: an event waits while its destination refuses the key, however long, and its attempts are not counted', async () => {
  const { outbox, retries, letters, health, counts } = open();
  const before = Date.now();
  await stored(outbox.settle([itemOf('first')], [keyRefused], false));
  await stored(outbox.settle([itemOf('again', before - 9e9)], [keyRefused], false));
  expect(letters).toEqual([]);
  expect(retries.map(({ record }) => [record.eventId, record.attempts])).toEqual([
    ['first', 0],
    ['again', 0],
  ]);
  for (const { record } of retries) {
    expect(record.heldAt).toBeGreaterThanOrEqual(before);
    expect(record.notBefore).toBeGreaterThanOrEqual(before + 30_000);
  }
  expect(health).toEqual(['failed 1', 'failed 1']);
  expect(counts).toMatchObject({ held: 2, retries: 0, attempts_access_refused: 2 });
});

test('outbox: an event becomes a dead letter if the key is refused for it alone, while other events are accepted', async () => {
  const { outbox, retries, letters } = open();
  const heldAtMs = Date.now() - 60_000;
  expect(outbox.settle([itemOf('good')], [answered({ kind: 'delivered' })], false)).toEqual(['settled']);
  await stored(outbox.settle([itemOf('probe', heldAtMs)], [keyRefused], true));
  expect(retries.map(({ record }) => record.eventId)).toEqual(['probe']);
  await stored(outbox.settle([itemOf('poison', heldAtMs)], [keyRefused], false));
  expect(letters.map(({ event, reason }) => [parseResolved(event).event.id, reason])).toEqual([
    ['poison', 'status 401'],
  ]);
});

test('outbox: an event that the platform accepted but dropped is not a failure and is not retried', async () => {
  const { outbox, retries, letters, health, counts } = open();
  const dropped = answered({ kind: 'dropped', reason: 'a robot' });
  expect(outbox.settle([itemOf('robot')], [dropped], false)).toEqual(['settled']);
  expect([retries, letters, health]).toEqual([[], [], ['stopped 1']]);
  expect(counts).toMatchObject({ attempts_dropped: 1, delivered: 0, failed_attempts: 0 });
});

test('outbox: parked events count as waiting at once, and are written to the log one after the other', async () => {
  const { outbox, retries, counts } = open();
  const waiting = new WaitingVisitors();
  const order = orderOf(waiting);
  const items = ['a', 'b', 'c'].map((id) => itemOf(id));
  const parked = Promise.all(items.map((item) => outbox.park(item, order)));
  expect(items.map((item) => order.placeOf(item))).toEqual(['known', 'known', 'known']);
  expect([outbox.parking, counts.parked, retries]).toEqual([3, 3, []]);
  const ids = (): string[] => retries.map(({ record }) => record.eventId);
  outbox.storeNextParked();
  expect([ids(), outbox.parking]).toEqual([['a'], 2]);
  outbox.storeNextParked();
  outbox.storeNextParked();
  expect([ids(), outbox.parking]).toEqual([['a', 'b', 'c'], 0]);
  await parked;
  expect(waiting.canRelease(items[0]?.visitorId ?? '')).toBe(true);
});

test('outbox: an unreadable parked event becomes a dead letter, and the event behind it may go', async () => {
  const { outbox, retries, counts } = open();
  const waiting = new WaitingVisitors();
  const order = orderOf(waiting);
  const { head } = itemOf('broken');
  const frame = new ResolvedFrame(Buffer.from('{"v":1,\n'));
  const broken = itemOf('broken', undefined, { head, rest: new FrameLine(frame, 0), bytes: 7 });
  const parked = Promise.all([broken, itemOf('next')].map((item) => outbox.park(item, order)));
  outbox.storeNextParked();
  outbox.storeNextParked();
  await parked;
  expect(retries.map(({ record }) => record.eventId)).toEqual(['next']);
  expect(counts.dead_letters_unreadable).toBe(1);
  expect(order.placeOf(itemOf('broken'))).toBe('behind');
  expect(waiting.canRelease(head.visitorId)).toBe(true);
});

test('outbox: an unsent event that later events wait behind goes back to the retry log, and the later events keep waiting', async () => {
  const waiting = new WaitingVisitors();
  const order = orderOf(waiting);
  const { outbox, retries } = open({ order });
  const head = itemOf('head');
  order.waitsAgain(head);
  order.park({ visitorId: head.visitorId, key: 'behind' }, parkedAs).place = { seq: 2, index: 0 };
  await stored(outbox.settle([head], [undefined], false));
  expect(retries.map(({ tier, record }) => [tier, record.eventId, record.attempts])).toEqual([
    [retryTier(0), 'head', 0],
  ]);
  expect([order.isHead(head), waiting.canRelease(head.visitorId), waiting.parked]).toEqual([true, false, 1]);
  expect(order.heads()).toMatchObject([
    { visitorId: head.visitorId, key: 'head', place: { tier: retryTier(0), seq: 1 } },
  ]);
});
