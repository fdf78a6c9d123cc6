import { expect, test } from 'vitest';
import { backoffMs, retry } from './retry.ts';

const passing = new Error('away');
const backoff = { firstMs: 1, longestMs: 4 };

test('retry: tries again while the failure may pass, and says so each time', async () => {
  const retries: number[] = [];
  const options = {
    backoff,
    isPassing: (error: unknown) => error === passing,
    onRetry: (_error: unknown, attempt: number) => void retries.push(attempt),
  };
  const work = (attempt: number) => (attempt < 3 ? Promise.reject(passing) : Promise.resolve(attempt));
  expect(await retry(work, options)).toBe(3);
  expect(retries).toEqual([1, 2]);
});

test('retry: a permanent failure is thrown without another try', async () => {
  const options = { isPassing: () => false };
  await expect(retry(() => Promise.reject(new Error('bug')), options)).rejects.toThrow('bug');
});

test('retry: the failure of the last try that is allowed is thrown', async () => {
  let tries = 0;
  const work = () => Promise.reject(new Error(`try ${(tries += 1)}`));
  await expect(retry(work, { backoff, isPassing: (_error, attempt) => attempt < 3 })).rejects.toThrow('try 3');
});

test('retry: ends when aborted, in the middle of a pause too, with the signal’s reason', async () => {
  const abort = new AbortController();
  const options = {
    signal: abort.signal,
    backoff: { firstMs: 3_600_000, longestMs: 3_600_000 },
    isPassing: () => true,
    onRetry: () => abort.abort(new Error('stop deadline passed')),
  };
  await expect(retry(() => Promise.reject(passing), options)).rejects.toThrow('stop deadline passed');
  await expect(retry(() => Promise.resolve(1), options)).rejects.toThrow('stop deadline passed');
});

test('retry: pauses double up to the longest, and are shortened at random by up to half', () => {
  const pauses = { firstMs: 50, longestMs: 1_000 };
  expect([1, 2, 3, 5, 6, 1_000].map((tries) => backoffMs(pauses, tries, 0))).toEqual([50, 100, 200, 800, 1_000, 1_000]);
  expect(backoffMs(pauses, 1, 1)).toBe(25);
});
