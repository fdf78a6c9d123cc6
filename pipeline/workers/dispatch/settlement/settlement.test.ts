import { expect, test } from 'vitest';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { createDispatcherCounts } from '../dispatcher-stats.ts';
import { notAttempted } from '../events/attempted.ts';
import { HeldReferences } from '../events/held-references.ts';
import { wholeEvent } from '../events/read-event.ts';
import { DispatchItem } from '../sources/dispatch-item.ts';
import { FramesInFlight } from '../sources/frames-in-flight.ts';
import { Inbox } from '../sources/inbox.ts';
import type { LoadedRecord } from '../sources/retry-reader.ts';
import { retryFrameOf } from '../testing/retry-frame.ts';
import { ParkedFrames } from '../waiting/parked-frames.ts';
import { VisitorOrder } from '../waiting/visitor-order.ts';
import { WaitingVisitors } from '../waiting/waiting-visitors.ts';
import { PendingWrites } from './pending-writes.ts';
import { Settlement } from './settlement.ts';

const eventOf = (id: string) => wholeEvent(sampleEvent({ id }), 100);

/** A settlement whose order of visitors is only in memory; `sent` lists the events that it puts into their lanes. */
function open() {
  const counts = createDispatcherCounts();
  const waiting = new WaitingVisitors();
  const warn = (error: unknown): never => {
    throw error;
  };
  const own = { connection: {} as never, references: new HeldReferences() };
  const order = new VisitorOrder({
    comesAgain: () => false,
    waiting,
    frames: new ParkedFrames({ ...own, destinationId: 'd', warn }),
    limits: { visitorsMax: 100, eventsMax: 100, bytesMax: 1_000_000 },
    counts,
    load: () => Promise.resolve([]),
    warn,
  });
  const health = {
    moved: () => undefined,
    passed: () => undefined,
    stored: () => undefined,
    countMove: () => undefined,
  };
  const retries = { abandoned: () => undefined };
  const inbox = new Inbox({ order, retries, health, counts, frames: new FramesInFlight(1_000) } as never);
  const sent: DispatchItem[] = [];
  const settlement = new Settlement({
    inbox,
    order,
    health,
    counts,
    writes: new PendingWrites(() => undefined, warn),
    sending: { add: (item: DispatchItem) => void sent.push(item) },
    keepUntried: () => Promise.resolve(),
  } as never);
  return { settlement, inbox, order, waiting, sent };
}

/** Takes a frame of the retry log with two events. Returns the first. */
function takeTwo(inbox: Inbox): DispatchItem {
  const times = { firstAttemptAt: 1, lastAttemptAt: 1, notBefore: 1, receivedAt: 1 };
  const records = ['first', 'second'].map((eventId, index): LoadedRecord => {
    const record = { attempts: 1, ...times, reason: 'test', visitorId: eventId, eventId, bytes: 1 };
    return { index, record, loaded: { kind: 'event', event: eventOf(eventId) } };
  });
  const [first] = inbox.takeRetries(retryFrameOf(records), records);
  return first instanceof DispatchItem ? first : expect.unreachable();
}

test('settlement: a frame of retries is not handed back once one of its events was counted as skipped', () => {
  const { settlement, inbox } = open();
  settlement.exclude(takeTwo(inbox), { kind: 'skip' });
  expect(inbox.handBackUnstarted().size).toBe(0);
});

test('settlement: a frame is not handed back once one of its events is an unreadable dead letter', () => {
  const { settlement, inbox } = open();
  settlement.keepUnreadable(takeTwo(inbox));
  expect(inbox.handBackUnstarted().size).toBe(0);
});

test('settlement: a released event waits again if an earlier event of its visitor has failed since its release', () => {
  const { settlement, inbox, order, waiting, sent } = open();
  const { visitorId } = eventOf('first').head;
  const as = { attempted: notAttempted, origin: undefined, receivedAtMs: 0, isCopied: true };
  for (const [index, key] of ['first', 'second'].entries()) {
    order.park({ visitorId, key }, as).place = { seq: 2, index };
  }
  const items = waiting.release(visitorId, 2).map((follower) => {
    const event = eventOf(follower.key);
    return inbox.takeReleased({ follower, loaded: { kind: 'event', event } }, event);
  });
  const [first = expect.unreachable(), second = expect.unreachable()] = items;
  settlement.queue(first);
  order.failed(first, first.follower);
  settlement.queue(second);
  expect([sent, inbox.isInFlight(second.frame), waiting.canRelease(visitorId)]).toEqual([[first], false, false]);
  order.done(first, first.follower);
  expect(waiting.release(visitorId, 2)).toEqual([second.follower]);
});
