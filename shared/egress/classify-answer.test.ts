import { expect, test } from 'vitest';
import { classifyAnswer, readRetryAfter } from './classify-answer.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const classify = (status: number, headers: Record<string, string> = {}) =>
  classifyAnswer({ status, headers, body: '' }, nowMs);

test.each([200, 201, 202, 204, 206])('classify answer: %i: delivered', (status) => {
  expect(classify(status)).toEqual({ kind: 'delivered' });
});

test.each([408, 421, 423, 425, 429, 500, 502, 503, 504, 599])(
  'classify answer: %i: the request may be retried',
  (status) => {
    expect(classify(status)).toEqual({ kind: 'retry', reason: `status ${status}` });
  },
);

test.each([401, 403])('classify answer: %i: the destination refuses the key, and its events wait', (status) => {
  expect(classify(status)).toEqual({ kind: 'retry', reason: `status ${status}`, refusesAccess: true });
});

test('classify answer: 477: HubSpot moves the account, and its events wait', () => {
  expect(classify(477)).toEqual({ kind: 'retry', reason: 'status 477', refusesAccess: true });
});

test.each([301, 302, 307, 304, 400, 404, 409, 410, 413, 422])('classify answer: %i: rejected for good', (status) => {
  expect(classify(status)).toEqual({ kind: 'reject', reason: `status ${status}` });
});

test('classify answer: Retry-After: is used only for answers that are retried', () => {
  expect(classify(429, { 'retry-after': '7' })).toEqual({ kind: 'retry', reason: 'status 429', afterMs: 7_000 });
  expect(classify(400, { 'retry-after': '7' })).toEqual({ kind: 'reject', reason: 'status 400' });
});

test.each([
  [{ 'ratelimit-reset': '45' }, 45_000],
  [{ 'x-ratelimit-reset': '45.5' }, 45_500],
  [{ 'x-ratelimit-reset': String(nowMs / 1_000 + 45) }, 45_000],
  [{ 'x-rate-limit-reset': String(nowMs + 45_000) }, 45_000],
  [{ 'x-ratelimit-reset': String(nowMs / 1_000 - 45) }, 0],
  [{ ratelimit: 'limit=10, remaining=0, reset=45' }, 45_000],
  [{ ratelimit: '"default";r=0;t=45' }, 45_000],
  [{ 'ratelimit-reset': '5', 'x-ratelimit-reset': '45' }, 45_000],
  [{ 'retry-after': '7', 'x-ratelimit-reset': '45' }, 7_000],
  [{ 'x-ratelimit-reset': 'Thu' }, undefined],
  [{ 'x-ratelimit-remaining': '0' }, undefined],
])('classify answer: 429 with %o: the wait before the retry', (headers, afterMs) => {
  expect(classify(429, headers)).toEqual({
    kind: 'retry',
    reason: 'status 429',
    ...(afterMs === undefined ? {} : { afterMs }),
  });
});

test.each([
  [undefined, undefined],
  ['0', 0],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  ['1000000000', 1e12],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', 1_500],
  ['5, 60', 60_000],
  ['5, Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['soon, 7', 7_000],
  ['2026-01-01', undefined],
  ['', undefined],
])('retry-after: %s: %s', (value, afterMs) => {
  expect(readRetryAfter(value, nowMs)).toBe(afterMs);
});
