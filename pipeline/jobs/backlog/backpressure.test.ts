import { expect, test } from 'vitest';
import { createWaitJudge } from './backpressure.ts';
import type { DestinationWait } from './backpressure.ts';

const ageMaxMs = 100;

function judgeOf(
  accountsMax = 10,
  ofSettings: { readonly ageMaxMs?: number; readonly queued?: Readonly<Record<string, number>> } = {},
) {
  const now: { waits: DestinationWait[]; lagMs: number | undefined } = { waits: [], lagMs: undefined };
  const judge = createWaitJudge({
    settings: { ageMaxMs: ofSettings.ageMaxMs ?? ageMaxMs, accountsMax },
    waits: () => now.waits,
    resolveLagMs: () => now.lagMs,
    queuedBytes: () => new Map(Object.entries(ofSettings.queued ?? {})),
    accountOf: (destinationId) => (destinationId === 'gone' ? undefined : `account-of-${destinationId.slice(0, 1)}`),
  });
  return (waits: Readonly<Record<string, number | undefined>>, lagMs?: number) => {
    now.waits = Object.entries(waits).map(([destinationId, ageMs]) => ({ destinationId, ageMs }));
    now.lagMs = lagMs;
    return judge();
  };
}

test('backpressure: an account is as late as its slowest destination, and accounts within the limit are not reported', () => {
  const judge = judgeOf();
  expect(judge({ a1: 0, a2: 0, b1: 0, gone: 0 })).toBeUndefined();
  expect(judge({ a1: 150, a2: 170, b1: 100, gone: 500 })).toEqual({ v: 1, accounts: [['account-of-a', 170]] });
  expect(judge({ a1: 100, a2: 0, b1: 100, gone: 0 })).toBeUndefined();
});

test('backpressure: a destination that cannot be reached does not make its account late, not even while it catches up', () => {
  const judge = judgeOf();
  judge({ a1: 0 });
  expect(judge({ a1: undefined })).toBeUndefined();
  expect(judge({ a1: 5_000 })).toBeUndefined();
  expect(judge({ a1: 4_000 })).toBeUndefined();
  expect(judge({ a1: 4_200 })?.accounts).toEqual([['account-of-a', 4_200]]);
});

test('backpressure: a report has at most the maximum number of accounts, those that wait longest', () => {
  const judge = judgeOf(2);
  judge({ a: 0, b: 0, c: 0 });
  expect(judge({ a: 200, b: 300, c: 250 })?.accounts).toEqual([
    ['account-of-b', 300],
    ['account-of-c', 250],
  ]);
});

test('backpressure: the instance that measures how long events wait for the resolver reports that time with its limit', () => {
  const judge = judgeOf();
  judge({}, 0);
  expect(judge({}, 120)).toEqual({ v: 1, accounts: [], resolve: { ageMs: 120, ageMaxMs } });
  expect(judge({}, undefined)).toBeUndefined();
});

test('backpressure: the accounts with the largest queues are reported, even when waits are not', () => {
  const queued = { a: 10.4, b: 500, c: 0, d: 20 };
  const expected = [['b', 500], ['d', 20]]; // prettier-ignore
  const off = judgeOf(2, { ageMaxMs: 0, queued });
  off({ a1: 0 }, 0);
  expect(off({ a1: 5_000 }, 5_000)).toEqual({ v: 1, accounts: [], queued: expected });
  const on = judgeOf(2, { queued });
  on({ a1: 0 });
  expect(on({ a1: 150 })).toEqual({ v: 1, accounts: [['account-of-a', 150]], queued: expected });
});
