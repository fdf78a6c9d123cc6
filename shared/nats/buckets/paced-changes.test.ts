import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPacedChanges } from './paced-changes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Each change occupies the thread for its `tookMs`. */
function createPaced(share: number, waitMaxMs: number, burstMs = 0) {
  const applied: { key: string; n: number; atMs: number }[] = [];
  let busyMs = 0;
  const now = (): number => Date.now() + busyMs;
  const changes = createPacedChanges<{ key: string; n: number; tookMs: number }>({
    share,
    burstMs,
    waitMaxMs,
    now,
    apply({ key, n, tookMs }) {
      applied.push({ key, n, atMs: Date.now() });
      busyMs += tookMs;
    },
  });
  return { changes, applied };
}

test('paced changes: the first change of a key is applied at once, and the newest later change when the key is due again', () => {
  const { changes, applied } = createPaced(0.05, 5_000);
  const startMs = Date.now();
  for (let n = 1; n <= 4; n += 1) changes.offer('large', n, { key: 'large', n, tookMs: 10 });
  expect(applied.map(({ n }) => n)).toEqual([1]);
  expect(changes.waitingFrom).toBe(2);
  changes.offer('other', 5, { key: 'other', n: 5, tookMs: 0 });
  changes.offer('other', 6, { key: 'other', n: 6, tookMs: 0 });
  expect(applied.map(({ n }) => n)).toEqual([1, 5, 6]);
  vi.advanceTimersByTime(199);
  expect(applied).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(applied.at(-1)).toEqual({ key: 'large', n: 4, atMs: startMs + 200 });
  expect(changes.waitingFrom).toBeUndefined();
});

test('paced changes: a few changes in a row are applied at once, as long as they have taken little time', () => {
  const { changes, applied } = createPaced(0.05, 5_000, 35);
  for (let n = 1; n <= 8; n += 1) changes.offer('a', n, { key: 'a', n, tookMs: 10 });
  expect(applied.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  vi.advanceTimersByTime(1_000);
  expect(applied.map(({ n }) => n)).toEqual([1, 2, 3, 4, 8]);
  // The full burst is available again.
  vi.advanceTimersByTime(1_000);
  for (let n = 9; n <= 11; n += 1) changes.offer('a', n, { key: 'a', n, tookMs: 10 });
  expect(applied.map(({ n }) => n)).toEqual([1, 2, 3, 4, 8, 9, 10, 11]);
  changes.stop();
});

test('paced changes: no change waits longer than waitMaxMs, and no change is applied after the stop', () => {
  const { changes, applied } = createPaced(0.01, 300);
  changes.offer('a', 1, { key: 'a', n: 1, tookMs: 1_000 });
  changes.offer('a', 2, { key: 'a', n: 2, tookMs: 1_000 });
  vi.advanceTimersByTime(300);
  expect(applied.map(({ n }) => n)).toEqual([1, 2]);
  changes.offer('a', 3, { key: 'a', n: 3, tookMs: 1_000 });
  changes.stop();
  vi.advanceTimersByTime(10_000);
  expect(applied).toHaveLength(2);
});

test('paced changes: in any sequence, the newest change of each key is finally applied, and no older change after it', () => {
  const offer = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    tookMs: fc.integer({ min: 0, max: 30 }),
    laterMs: fc.integer({ min: 0, max: 400 }),
  });
  fc.assert(
    fc.property(fc.array(offer, { maxLength: 40 }), (offers) => {
      const { changes, applied } = createPaced(0.05, 500);
      const newest = new Map<string, number>();
      offers.forEach(({ key, tookMs, laterMs }, index) => {
        newest.set(key, index + 1);
        changes.offer(key, index + 1, { key, n: index + 1, tookMs });
        const behind = changes.waitingFrom ?? Infinity;
        // The newest change of each key is applied if it is older than the oldest waiting one.
        for (const [each, n] of newest) {
          const last = applied.findLast((one) => one.key === each)?.n ?? 0;
          if (n < behind) expect(last).toBe(n);
        }
        vi.advanceTimersByTime(laterMs);
      });
      vi.advanceTimersByTime(60_000);
      for (const [key, n] of newest) {
        const own = applied.filter((one) => one.key === key).map((one) => one.n);
        expect(own.at(-1)).toBe(n);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
      changes.stop();
    }),
  );
});
