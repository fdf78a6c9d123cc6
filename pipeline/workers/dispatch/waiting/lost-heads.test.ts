import { expect, test, vi } from 'vitest';
import { createDispatcherCounts } from '../dispatcher-stats.ts';
import { notAttempted } from '../events/attempted.ts';
import { HeldReferences } from '../events/held-references.ts';
import { watchLostHeads } from './lost-heads.ts';
import { ParkedFrames } from './parked-frames.ts';
import { VisitorOrder } from './visitor-order.ts';
import { WaitingVisitors } from './waiting-visitors.ts';

const warn = (error: unknown): never => {
  throw error;
};

/** A visitor whose second event waits for its first. Every 5 ms the watch checks whether the first is lost. */
function open(isFinished: () => boolean = () => false) {
  const waiting = new WaitingVisitors();
  const counts = createDispatcherCounts();
  const log = { connection: {} as never, destinationId: 'd' };
  const order = new VisitorOrder({
    comesAgain: () => false,
    waiting,
    frames: new ParkedFrames({ ...log, references: new HeldReferences(), warn }),
    limits: { visitorsMax: 100, eventsMax: 100, bytesMax: 1_000_000 },
    counts,
    load: () => Promise.resolve([]),
    warn,
  });
  const head = { visitorId: 'v', key: 'first' };
  order.waitsAgain(head);
  const second = { attempted: notAttempted, origin: undefined, receivedAtMs: 0, isCopied: true };
  order.park({ visitorId: 'v', key: 'second' }, second).place = { seq: 2, index: 0 };
  const onLost = vi.fn<(heads: number) => void>();
  const watching = watchLostHeads({ ...log, order, isFinished, everyMs: 5, onLost, warn });
  return { waiting, counts, order, head, onLost, watching };
}

test('lost heads: an event that was never stored is counted as lost, and the next event of its visitor may go', async () => {
  const { waiting, counts, onLost, watching } = open();
  await vi.waitFor(() => expect(waiting.canRelease('v')).toBe(true));
  expect([counts.retries_lost, onLost.mock.calls]).toEqual([1, [[1]]]);
  await watching.stop();
});

test('lost heads: an event counts as lost if its message in the log was read and finished without it', async () => {
  const { waiting, counts, order, head, watching } = open(() => true);
  order.placed(head, { tier: 20, seq: 7 });
  await vi.waitFor(() => expect(waiting.canRelease('v')).toBe(true));
  expect(counts.retries_lost).toBe(1);
  await watching.stop();
});

test('lost heads: an event that is on its way to the log does not count as lost, however long that takes', async () => {
  const { waiting, counts, order, head, watching } = open();
  order.storing(head, new Promise(() => undefined));
  // Waits until another head, which is not being stored, has been found lost after as many checks.
  const other = open();
  await vi.waitFor(() => expect(other.counts.retries_lost).toBe(1));
  expect([waiting.canRelease('v'), counts.retries_lost]).toEqual([false, 0]);
  await Promise.all([watching.stop(), other.watching.stop()]);
});
