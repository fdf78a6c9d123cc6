import fc from 'fast-check';
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
  ['"Smith, John", Ann', 'string', ['Smith, John', 'Ann']],
  ['"1", "a\tb", 5" pipe, "x" y', 'any', ['1', 'a\tb', '5" pipe', '"x" y']],
] as const)('allowed values: %j of the type %s are %j', (text, type, values) => {
  expect(readAllowedValues(text, type)).toEqual(values);
});

const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number));
const texts = fc.oneof(
  fc.string(),
  fc.constantFrom('1', 'true', 'Smith, John', '"', ' a', 'a\nb'),
  numbers.map(String),
);
const mixed = fc.oneof(texts, numbers, fc.boolean(), fc.constantFrom(1, 2));
const storedValues = fc.oneof(
  ...(['any', 'array'] as const).map((type) => fc.tuple(fc.constant(type), fc.uniqueArray(mixed, { minLength: 1 }))),
  fc.tuple(fc.constant('string' as const), fc.uniqueArray(texts, { minLength: 1 })),
  fc.tuple(fc.constant('number' as const), fc.uniqueArray(numbers, { minLength: 1 })),
  fc.tuple(fc.constant('boolean' as const), fc.uniqueArray(fc.boolean(), { minLength: 1 })),
);

test('allowed values: stored values that are written as text read back unchanged, with their types', () => {
  fc.assert(
    fc.property(storedValues, ([type, values]) => {
      expect(readAllowedValues(writeAllowedValues(values, type), type, values)).toEqual(values);
    }),
  );
  expect(writeAllowedValues(null, 'any')).toBe('');
  expect(writeAllowedValues([1, 'a', 'Smith, John'], 'any')).toBe('1, a, "Smith, John"');
});
