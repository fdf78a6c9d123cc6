import { expect, test } from 'vitest';
import { noPercentiles } from './load-recorder.ts';
import { assertAllAccepted, isAllAccepted } from './load-result.ts';
import type { LoadResult } from './load-result.ts';

const fine: LoadResult = {
  answersPerS: 10,
  answers: 10,
  byStatus: { 200: 10 },
  failures: 0,
  unanswered: 0,
  latencyMs: noPercentiles,
  windows: [],
  seconds: 1,
  acceptedInAll: 12,
  unsent: 0,
  warmedUp: { tookMs: 1_000, isSteady: true },
};

test('load result: is valid if every request was answered with 200', () => {
  expect(isAllAccepted(fine)).toBe(true);
});

test.each([
  ['a refusal', { byStatus: { 200: 10, 503: 1 } }],
  ['a connection that broke', { failures: 1 }],
  ['an unanswered request', { unanswered: 1 }],
  ['nothing at all', { answers: 0, byStatus: {} }],
])('load result: %s makes it invalid', (_what, own) => {
  expect(isAllAccepted({ ...fine, ...own })).toBe(false);
  expect(() => assertAllAccepted('track', { ...fine, ...own })).toThrow('measuring track: answers');
});
