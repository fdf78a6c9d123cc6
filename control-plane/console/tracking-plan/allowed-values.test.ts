import { expect, test } from 'vitest';
import { readAllowedValues, writeAllowedValues } from './allowed-values.ts';

test.each([
  ['', 'string', null],
  [' , ', 'string', null],
  ['EUR, USD,EUR', 'string', ['EUR', 'USD']],
  ['1, 2.5, -3', 'number', [1, 2.5, -3]],
  ['true', 'boolean', [true]],
  ['1, two', 'number', [1, 'two']],
  ['1', 'any', ['1']],
] as const)('allowed values: %j of the type %s are %j', (text, type, values) => {
  expect(readAllowedValues(text, type)).toEqual(values);
});

test('allowed values: stored values that are written as text read back unchanged', () => {
  for (const [type, values] of [
    ['string', ['a', 'b']],
    ['number', [1, 2]],
    ['boolean', [true, false]],
  ] as const) {
    expect(readAllowedValues(writeAllowedValues(values), type)).toEqual(values);
  }
  expect(writeAllowedValues(null)).toBe('');
});
