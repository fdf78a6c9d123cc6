import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFalsyForm, numberForm, spanForm, textForm, utcDay } from './value-forms.ts';

test.each<[unknown, number | undefined]>([
  [5, 5],
  ['5', 5],
  [' -5.50 ', -5.5],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1_000],
  ['', undefined],
  ['5 apples', undefined],
  ['0x10', undefined],
  ['Infinity', undefined],
  ['1e999', undefined],
  ['1,000', undefined],
  ['1'.repeat(41), undefined],
  [true, undefined],
  [null, undefined],
  [[5], undefined],
])('number form: %j: is %s', (value, expected) => {
  expect(numberForm(value)).toBe(expected);
});

describe('span form', () => {
  const day = Date.UTC(2026, 0, 31);

  test.each<[unknown, number]>([
    ['2026-01-31T00:00:00Z', day],
    ['2026-01-31T01:30:00+01:30', day],
    ['2026-01-30T19:00-0500', day],
    ['2026-01-31 00:00:00.250', day + 250],
    ['2026-01-31T00:00:00.250999z', day + 250],
    [day, day],
    [String(day), day],
    ['-86400000000', -86_400_000_000],
  ])('%s: is one moment', (value, startMs) => {
    expect(spanForm(value)).toEqual({ startMs, endMs: startMs });
  });

  test('span form: a date alone is a whole UTC day', () => {
    expect(spanForm(' 2026-01-31 ')).toEqual({ startMs: day, endMs: day + 86_399_999 });
  });

  test.each([
    '2026-02-30',
    '2026-13-01',
    '2026-01-31T25:00:00Z',
    '2026-01-31T10:60',
    '2026-01',
    '31/01/2026',
    '2026',
    'now',
    '',
    true,
    null,
    1e300,
    ['2026-01-31'],
  ])('%j: is no time', (value) => {
    expect(spanForm(value)).toBeUndefined();
  });

  test('span form: reads back what toISOString writes', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(spanForm(date.toISOString())?.startMs).toBe(date.getTime());
      }),
    );
  });
});

test('value forms: utc day: knows the calendar', () => {
  expect(utcDay(2024, 2, 29)).toBe(Date.UTC(2024, 1, 29));
  expect(utcDay(2023, 2, 29)).toBeUndefined();
  expect(utcDay(99, 1, 1)).toBe(Date.parse('0099-01-01T00:00:00Z'));
  expect(utcDay(2026, 0, 1)).toBeUndefined();
});

test('value forms: text form: lists, objects and null have no text form', () => {
  expect(['a', 5, false].map(textForm)).toEqual(['a', '5', 'false']);
  expect([null, undefined, [], {}].map(textForm)).toEqual([undefined, undefined, undefined, undefined]);
});

test('value forms: every JSON value can be read in each form without an error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      textForm(value);
      numberForm(value);
      spanForm(value);
      expect(isFalsyForm(value)).toBeTypeOf('boolean');
    }),
  );
});
