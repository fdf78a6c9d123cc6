import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ApiError, tooMany } from './api-error.ts';
import { createRequestShares } from './request-shares.ts';

const create = (runningMax: number, underWayMax: number) =>
  createRequestShares({ runningMax, underWayMax, refusal: () => tooMany('too many') });

/** Shares whose owners' costly work is bounded. */
const createCostly = (limits: { share: number; burstMs: number; waitMaxMs: number }) =>
  createRequestShares({
    runningMax: 5,
    underWayMax: 50,
    refusal: () => tooMany('too many'),
    costly: { ...limits, refusal: (s) => tooMany('too costly', s) },
  });

/** Work that ends when it is told to. */
function holding(): { work(): Promise<string>; end(): void; readonly isBegun: boolean } {
  let [isBegun, end] = [false, (): void => undefined];
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    async work() {
      isBegun = true;
      await ended;
      return 'done';
    },
    end,
    get isBegun() {
      return isBegun;
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('request shares: an owner waits for its own requests, and nobody waits for another', async () => {
  const shares = create(1, 3);
  const [first, second, other] = [holding(), holding(), holding()];
  const results = [shares.enter('a').run(first.work), shares.enter('a').run(second.work)];
  results.push(shares.enter('b').run(other.work));
  await settled();
  expect([first.isBegun, second.isBegun, other.isBegun, shares.waiting]).toEqual([true, false, true, 1]);
  first.end();
  await settled();
  expect([second.isBegun, shares.waiting]).toEqual([true, 0]);
  second.end();
  other.end();
  expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
});

test('request shares: those under way are bounded, those that still send among them, and room comes back', async () => {
  const shares = create(1, 2);
  const [sending, working] = [shares.enter('a'), shares.enter('a')];
  expect(() => shares.enter('a')).toThrow('too many');
  expect(() => shares.enter('b')).not.toThrow();
  expect(shares.refused).toBe(1);
  const held = holding();
  const result = working.run(held.work);
  await settled();
  // Its client is gone, its work is not.
  working.leave();
  expect(() => shares.enter('a')).toThrow('too many');
  held.end();
  await result;
  sending.leave();
  sending.leave();
  shares.enter('a');
  shares.enter('a');
  expect(() => shares.enter('a')).toThrow('too many');
});

test('request shares: what fails gives its turn back, and nobody works for a client that left while it waited', async () => {
  const shares = create(1, 3);
  const held = holding();
  const failing = shares.enter('a').run(async () => {
    await held.work();
    throw new Error('failed');
  });
  const left = shares.enter('a');
  const unwanted = holding();
  const dropped = left.run(unwanted.work);
  left.leave();
  held.end();
  await expect(failing).rejects.toThrow('failed');
  await expect(dropped).rejects.toThrow('before its turn came');
  expect(unwanted.isBegun).toBe(false);
  expect(await shares.enter('a').run(async () => 'next')).toBe('next');
});

test('request shares: costly work waits where its owner had much of it done, and is refused where that takes too long', async () => {
  const shares = createCostly({ share: 0.001, burstMs: 1, waitMaxMs: 60_000 });
  const works = (ms: number) => () => wait(ms);
  await shares.enter('a').run(works(80), true);
  await shares.enter('a').run(works(0));
  const refused = await shares
    .enter('a')
    .run(works(0), true)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, message: 'too costly' });
  expect(refused instanceof ApiError && (refused.retryAfterS ?? 0) > 60).toBe(true);
  expect(shares.refused).toBe(1);
  await shares.enter('b').run(works(0), true);
});

test('request shares: costly work goes one at a time, so that what waits costs nothing, and other work goes beside it', async () => {
  const shares = createCostly({ share: 0.001, burstMs: 5_000, waitMaxMs: 0 });
  let [atOnce, most] = [0, 0];
  const costly = async (): Promise<void> => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await wait(20);
    atOnce -= 1;
  };
  const all = Array.from({ length: 30 }, () => shares.enter('a').run(costly, true));
  expect(await shares.enter('a').run(() => Promise.resolve('beside'))).toBe('beside');
  expect(atOnce).toBe(1);
  await Promise.all(all);
  expect(most).toBe(1);
});

test('request shares: costly work behind other costly work is refused at its turn, where it would wait too long with all it waited', async () => {
  const shares = createCostly({ share: 0.5, burstMs: 1, waitMaxMs: 200 });
  let done = 0;
  const costly = async (): Promise<void> => {
    await wait(30);
    done += 1;
  };
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => shares.enter('a').run(costly, true)));
  const refused = results.filter(({ status }) => status === 'rejected').length;
  // Each of them by itself would wait for 60 ms.
  expect(refused).toBeGreaterThan(0);
  expect([shares.refused, done]).toEqual([refused, 20 - refused]);
});
