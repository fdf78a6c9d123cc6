import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { RetryQuota, retryLimits } from './retry-quota.ts';
import type { RetryLimits, RetryUse } from './retry-quota.ts';

const mebibyte = 1024 ** 2;

function open(own: { limits?: RetryLimits; other?: number; measured?: () => number } = {}) {
  const counts = { retry_share_pauses: 0 };
  const quota = new RetryQuota(
    {
      limits: () => own.limits ?? { bytesMax: 200, waitingMax: 100, isLogFilling: false },
      otherBytes: () => own.other ?? 0,
      measure: () => Promise.resolve(own.measured?.() ?? 0),
      counts,
      warn: () => undefined,
    },
    0,
  );
  return { quota, counts };
}

test('retry quota: at the limit of waiting bytes no fresh events are taken, until a tenth of it is free', () => {
  const { quota, counts } = open();
  quota.stored(90);
  expect(quota.isFull(0)).toBe(false);
  quota.stored(20);
  expect(quota.isFull(0)).toBe(true);
  quota.removed(15);
  expect([quota.isFull(0), quota.isPaused]).toEqual([true, true]);
  quota.removed(10);
  expect([quota.isFull(0), counts.retry_share_pauses]).toEqual([false, 1]);
});

test('retry quota: events in memory may all have to be stored, so their bytes count before fresh events are accepted', () => {
  const { quota, counts } = open();
  quota.stored(60);
  expect([quota.isFull(39), quota.isFull(40), quota.isPaused]).toEqual([false, true, false]);
  expect(counts.retry_share_pauses).toBe(0);
});

test('retry quota: bytes of parked events, and of events on their way to the log, count as well', () => {
  const { quota } = open({ other: 90 });
  quota.stored(20);
  expect([quota.isFull(0), quota.bytes]).toEqual([true, 110]);
  expect([quota.hasRoom(90, false), quota.hasRoom(91, false)]).toEqual([true, false]);
});

test('retry quota: however small the quota is, one event at a time is accepted', () => {
  const { quota } = open({ limits: { bytesMax: 0, waitingMax: 0, isLogFilling: false } });
  expect([quota.isFull(0), quota.isFull(1), quota.hasRoom(1, false)]).toEqual([false, true, false]);
});

test('retry quota: after the limit is lowered, a record over it may still be replaced, unless the log is filling up', () => {
  for (const isLogFilling of [false, true]) {
    const { quota } = open({ limits: { bytesMax: 50, waitingMax: 25, isLogFilling } });
    quota.stored(100);
    expect([quota.hasRoom(1, false), quota.hasRoom(1, true)]).toEqual([false, !isLogFilling]);
  }
});

test('retry quota: while it seems full it is measured again, since another process may have removed frames', async () => {
  vi.useFakeTimers();
  try {
    const { quota } = open({ measured: () => 30 });
    quota.stored(200);
    expect(quota.isFull(0)).toBe(true);
    vi.advanceTimersByTime(31_000);
    expect(quota.isFull(0)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect([quota.isFull(0), quota.bytes]).toEqual([false, 30]);
  } finally {
    vi.useRealTimers();
  }
});

const capacity = 1_024 * mebibyte;
const settings = { bytesMax: 128 * mebibyte, account: 0.5, all: 0.7 };
const useOf = (used: number, destinations: number, accounts = 1): RetryUse => ({
  capacity,
  used,
  accounts,
  destinationsOf: () => destinations,
});

test('retry limits: all destinations of an account together stay within its quota, however many there are', () => {
  for (const destinations of [4, 1_024, 10_000]) {
    const { bytesMax, waitingMax } = retryLimits('a', useOf(0, destinations), settings);
    expect(bytesMax * destinations).toBeLessThanOrEqual(capacity * settings.account);
    expect(waitingMax * 2).toBeLessThanOrEqual(bytesMax);
  }
  expect(retryLimits('a', useOf(capacity, 1_024), settings).bytesMax).toBeLessThan(mebibyte);
});

test('retry limits: an account has its share of the reserve, however full other accounts have made the log', () => {
  const { bytesMax, waitingMax } = retryLimits('quiet', useOf(capacity * 0.7, 2, 2), settings);
  expect(bytesMax).toBeCloseTo((capacity * 0.3) / 3 / 2);
  expect(waitingMax).toBe(bytesMax / 2);
});

test('retry limits: property: while all accounts fill their limits, the next account always has room', () => {
  const account = fc.integer({ min: 1, max: 1_100 });
  fc.assert(
    fc.property(fc.array(account, { minLength: 1, maxLength: 8 }), (accounts) => {
      // For each account, the bytes of each of its destinations, which all fail alike.
      const held = accounts.map(() => 0);
      const usedNow = (): number => held.reduce((sum, each, index) => sum + each * (accounts[index] ?? 0), 0);
      for (let round = 0; round < 60; round += 1) {
        // All accounts see the use that was measured before any of them grew.
        const used = usedNow();
        const accountsThere = held.filter((each) => each > 0).length;
        accounts.forEach((destinations, index) => {
          const { waitingMax } = retryLimits('', useOf(used, destinations, accountsThere), settings);
          const each = held[index] ?? 0;
          if (each < waitingMax) held[index] = Math.min(waitingMax, each + waitingMax / 10);
        });
        const next = retryLimits('', useOf(usedNow(), 1, accountsThere), { ...settings, bytesMax: Infinity });
        expect(usedNow() + next.waitingMax).toBeLessThanOrEqual(capacity);
      }
    }),
    { numRuns: 50 },
  );
});
