import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { RetryShare, retryBytesMax, retryBytesMin } from './retry-share.ts';

const mebibyte = 1024 ** 2;

function open(own: { bytesMax?: number; parked?: number; measured?: () => number } = {}) {
  const counts = { retry_share_pauses: 0 };
  const share = new RetryShare(
    {
      bytesMax: () => own.bytesMax ?? 100,
      parkedBytes: () => own.parked ?? 0,
      measure: () => Promise.resolve(own.measured?.() ?? 0),
      counts,
      warn: () => undefined,
    },
    0,
  );
  return { share, counts };
}

test('retry share: past it no fresh events are taken, until there is a tenth of it free', () => {
  const { share, counts } = open();
  share.stored(100);
  expect(share.isFull()).toBe(false);
  share.stored(20);
  expect(share.isFull()).toBe(true);
  share.finished(25);
  expect([share.isFull(), share.isPaused]).toEqual([true, true]);
  share.finished(10);
  expect([share.isFull(), counts.retry_share_pauses]).toEqual([false, 1]);
});

test('retry share: what is parked counts as well', () => {
  const { share } = open({ parked: 90 });
  share.stored(20);
  expect([share.isFull(), share.bytes]).toEqual([true, 110]);
});

test('retry share: where somebody else has removed what it had, it finds that out', async () => {
  vi.useFakeTimers();
  try {
    const { share } = open({ measured: () => 30 });
    share.stored(200);
    expect(share.isFull()).toBe(true);
    vi.advanceTimersByTime(31_000);
    expect(share.isFull()).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect([share.isFull(), share.bytes]).toEqual([false, 30]);
  } finally {
    vi.useRealTimers();
  }
});

test('retry share: however many destinations of however many accounts grow as far as they may, the log is not filled', () => {
  const capacity = 1_024 * mebibyte;
  const settings = { bytesMax: 128 * mebibyte, account: 0.5, all: 0.8 };
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }), (accounts) => {
      const held = accounts.map((destinations) => Array.from({ length: destinations }, () => 0));
      const sum = (sizes: readonly number[]): number => sizes.reduce((total, one) => total + one, 0);
      for (let round = 0; round < 40; round += 1) {
        // All of them grow by what one writes between two looks.
        const used = sum(held.map(sum));
        const bySum = held.map(sum);
        const use = { capacity, used, usedBy: (id: string) => bySum[Number(id)] ?? 0 };
        held.forEach((own, account) => {
          const limit = retryBytesMax(String(account), use, settings);
          own.forEach((bytes, index) => {
            if (bytes <= limit) own[index] = bytes + mebibyte / 2;
          });
        });
      }
      expect(sum(held.map(sum))).toBeLessThan(capacity);
      for (const own of held) expect(sum(own)).toBeLessThan(capacity * 0.5 + own.length * 2 * retryBytesMin);
    }),
    { numRuns: 25 },
  );
});

test('retry share: one that has nothing there is never told to wait by what others have', () => {
  const use = { capacity: 100 * mebibyte, used: 100 * mebibyte, usedBy: () => 100 * mebibyte };
  expect(retryBytesMax('a', use, { bytesMax: 128 * mebibyte, account: 0.5, all: 0.8 })).toBe(retryBytesMin);
  expect(retryBytesMax('a', undefined, { bytesMax: 7, account: 0.5, all: 0.8 })).toBe(7);
});
