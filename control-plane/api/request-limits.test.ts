import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ApiError, tooMany } from './api-error.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { visitorConnectionsMax } from '../store/databases-settings.ts';
import { createRequestLimits, readRequestLimitSettings, requestLimitsEnv } from './request-limits.ts';

const create = (runningMax: number, inFlightMax: number) =>
  createRequestLimits({ runningMax, inFlightMax, refusal: () => tooMany('too many') });

/** Limits with a cost budget for the costly work of each owner. */
const createCostly = (budget: { share: number; burstMs: number; waitMaxMs: number }) =>
  createRequestLimits({
    runningMax: 5,
    inFlightMax: 50,
    refusal: () => tooMany('too many'),
    costly: { ...budget, refusal: (s) => tooMany('too costly', s) },
  });

/** Work that ends on request. */
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

test('request limits: the running requests of an account leave connections of each pool to other accounts', () => {
  for (const CONTROL_PLANE_DATABASE_CONNECTIONS_MAX of [2, 4, 10, 100]) {
    const { runningMax } = readRequestLimitSettings({
      ...defaultsOf(requestLimitsEnv),
      CONTROL_PLANE_DATABASE_CONNECTIONS_MAX,
    });
    expect(runningMax).toBeLessThan(Math.min(CONTROL_PLANE_DATABASE_CONNECTIONS_MAX, visitorConnectionsMax));
  }
});

test('request limits: an owner waits for its own requests only', async () => {
  const limits = create(1, 3);
  const [first, second, other] = [holding(), holding(), holding()];
  const results = [limits.enter('a').run(first.work), limits.enter('a').run(second.work)];
  results.push(limits.enter('b').run(other.work));
  await settled();
  expect([first.isBegun, second.isBegun, other.isBegun, limits.waiting]).toEqual([true, false, true, 1]);
  first.end();
  await settled();
  expect([second.isBegun, limits.waiting]).toEqual([true, 0]);
  second.end();
  other.end();
  expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
});

test('request limits: requests in flight are limited, including those still being sent, and finished requests make room', async () => {
  const limits = create(1, 2);
  const [sending, working] = [limits.enter('a'), limits.enter('a')];
  expect(() => limits.enter('a')).toThrow('too many');
  expect(() => limits.enter('b')).not.toThrow();
  expect(limits.refused).toBe(1);
  const held = holding();
  const result = working.run(held.work);
  await settled();
  // The client has disconnected, but its work still runs.
  working.leave();
  expect(() => limits.enter('a')).toThrow('too many');
  held.end();
  await result;
  sending.leave();
  sending.leave();
  limits.enter('a');
  limits.enter('a');
  expect(() => limits.enter('a')).toThrow('too many');
});

test('request limits: a failed request gives its turn back, and a waiting request is not run if its client has left', async () => {
  const limits = create(1, 3);
  const held = holding();
  const failing = limits.enter('a').run(async () => {
    await held.work();
    throw new Error('failed');
  });
  const left = limits.enter('a');
  const unwanted = holding();
  const dropped = left.run(unwanted.work);
  left.leave();
  held.end();
  await expect(failing).rejects.toThrow('failed');
  await expect(dropped).rejects.toThrow('before its turn came');
  expect(unwanted.isBegun).toBe(false);
  expect(await limits.enter('a').run(async () => 'next')).toBe('next');
});

test('request limits: costly work is refused if its owner’s cost budget would make it wait too long', async () => {
  const limits = createCostly({ share: 0.001, burstMs: 1, waitMaxMs: 60_000 });
  const works = (ms: number) => () => wait(ms);
  await limits.enter('a').run(works(80), true);
  await limits.enter('a').run(works(0));
  const refused = await limits
    .enter('a')
    .run(works(0), true)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, message: 'too costly' });
  expect(refused instanceof ApiError && (refused.retryAfterS ?? 0) > 60).toBe(true);
  expect(limits.refused).toBe(1);
  await limits.enter('b').run(works(0), true);
});

test('request limits: costly work runs one at a time, so waiting requests cost nothing, and other work runs meanwhile', async () => {
  const limits = createCostly({ share: 0.001, burstMs: 5_000, waitMaxMs: 0 });
  let [atOnce, most] = [0, 0];
  const costly = async (): Promise<void> => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await wait(20);
    atOnce -= 1;
  };
  const all = Array.from({ length: 30 }, () => limits.enter('a').run(costly, true));
  expect(await limits.enter('a').run(() => Promise.resolve('beside'))).toBe('beside');
  expect(atOnce).toBe(1);
  await Promise.all(all);
  expect(most).toBe(1);
});

test('request limits: costly work behind other costly work is refused at its turn if its total wait would be too long', async () => {
  const limits = createCostly({ share: 0.5, burstMs: 1, waitMaxMs: 200 });
  let done = 0;
  const costly = async (): Promise<void> => {
    await wait(30);
    done += 1;
  };
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => limits.enter('a').run(costly, true)));
  const refused = results.filter(({ status }) => status === 'rejected').length;
  // Each request alone would wait for only 60 ms.
  expect(refused).toBeGreaterThan(0);
  expect([limits.refused, done]).toEqual([refused, 20 - refused]);
});
