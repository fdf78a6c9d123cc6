import { expect, test } from 'vitest';
import { defineEnv, EnvError } from '../../shared/runtime/env.ts';
import { erasuresEnv, readErasureSettings } from './erasure-settings.ts';

const { read } = defineEnv(erasuresEnv);

function problemsOf(source: Readonly<Record<string, string>>): readonly string[] {
  try {
    read(source);
    return [];
  } catch (error) {
    return error instanceof EnvError ? error.problems : [String(error)];
  }
}

test('erasure settings: a visitor’s erasure is not forwarded while the pipeline may still have a request in flight', () => {
  const why = 'a destination could delete a visitor before it has an earlier event';
  expect(problemsOf({ ERASURE_FORWARD_AFTER_MS: '14999' })).toEqual([
    `ERASURE_FORWARD_AFTER_MS is 14999, less than DISPATCH_TOTAL_TIMEOUT_MS (15000): ${why}`,
  ]);
  expect(problemsOf({ ERASURE_FORWARD_AFTER_MS: '60000', DISPATCH_TOTAL_TIMEOUT_MS: '60001' })).toEqual([
    `ERASURE_FORWARD_AFTER_MS is 60000, less than DISPATCH_TOTAL_TIMEOUT_MS (60001): ${why}`,
  ]);
  expect(problemsOf({ ERASURE_FORWARD_AFTER_MS: '15000' })).toEqual([]);
  expect(problemsOf({ ERASURE_FORWARD_AFTER_MS: '500', DISPATCH_TOTAL_TIMEOUT_MS: '500' })).toEqual([]);
});

test('erasure settings: by default, forwarding waits a minute, or as long as a request may take if that is longer', () => {
  const waitMs = (source: Readonly<Record<string, string>>) => readErasureSettings(read(source)).forwardAfterMs;
  expect(waitMs({})).toBe(60_000);
  expect(waitMs({ DISPATCH_TOTAL_TIMEOUT_MS: '90000' })).toBe(90_000);
  expect(waitMs({ ERASURE_FORWARD_AFTER_MS: '20000' })).toBe(20_000);
});
