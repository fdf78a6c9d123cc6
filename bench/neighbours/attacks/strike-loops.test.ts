import { expect, test } from 'vitest';
import { strikeAtOnce, strikeAtRate } from './strike-loops.ts';

test('strikes at a rate: at most the permitted number run at a time, and calls that cannot start in time are skipped', async () => {
  const ending = new AbortController();
  const struck: number[] = [];
  let [atOnce, most] = [0, 0];
  await strikeAtRate(ending.signal, { perS: 100_000, atOnceMax: 3 }, async (index) => {
    struck.push(index);
    most = Math.max(most, (atOnce += 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
    atOnce -= 1;
    if (struck.length >= 9) ending.abort();
  });
  expect(most).toBe(3);
  expect(new Set(struck).size).toBe(struck.length);
  // Far more calls were due than were made.
  expect(struck.at(-1)).toBeGreaterThan(struck.length);
});

test('strikes at once: each loop starts its next call when its previous call ends, until it is stopped', async () => {
  const ending = new AbortController();
  const struck = [0, 0];
  await strikeAtOnce(ending.signal, 2, (lane) => {
    struck[lane] = (struck[lane] ?? 0) + 1;
    if (struck.every((times) => times >= 2)) ending.abort();
    return Promise.resolve();
  });
  expect(Math.min(...struck)).toBeGreaterThanOrEqual(2);
});
