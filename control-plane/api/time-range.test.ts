import { expect, test } from 'vitest';
import { readTime, readTimeRange } from './time-range.ts';

test('time range: both ends are read as ms since the epoch, and either may be missing', () => {
  expect(readTimeRange({ from: '1970-01-01T00:00:01Z', to: '1970-01-01T01:00:02+01:00' })).toEqual({
    fromMs: 1_000,
    toMs: 2_000,
  });
  expect(readTimeRange({})).toEqual({});
});

test.each([
  [{ from: '2026-06-30T23:59:60Z' }, 'from must be a time since 1970'],
  [{ to: '1960-01-01T00:00:00Z' }, 'to must be a time since 1970'],
  [{ from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from must be before to'],
])('time range: %j is refused', (fields, error) => {
  expect(() => readTimeRange(fields)).toThrow(error);
});

test('time: an error names the field', () => {
  expect(() => readTime('expiresAt', '2026-06-30T23:59:60Z')).toThrow('expiresAt must be a time since 1970');
});
