import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  copyMember,
  holdsExact,
  mayHoldExact,
  mergeMembers,
  numberText,
  parseExact,
  stringifyExact,
} from './exact-numbers.ts';

const odd = ['23851234567890123', '23851234567890124', '-0', '1.0', '1e400', '1E5', '0.0000001', '12.50', '-0.0'];
const number = fc.oneof(
  fc.constantFrom(...odd, '0', '7', '-12.5', '1763700000000', '0.30000000000000004'),
  fc.tuple(fc.bigInt(), fc.constantFrom('', '.0', '.10', 'e3', 'E-2')).map(([whole, end]) => `${whole}${end}`),
);
const text = fc
  .oneof(fc.string(), fc.constantFrom(...odd, ':1.0,', '\\', '"1e5"'))
  .map((value) => JSON.stringify(value));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    number,
    text,
    fc.constantFrom('true', 'null'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .dictionary(fc.constantFrom('a', 'b', '1.0', '__proto__', 'é'), tie('json'), {
        maxKeys: 4,
        noNullPrototype: true,
      })
      .map(
        (members) =>
          `{${Object.entries(members)
            .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
            .join(',')}}`,
      ),
  ),
}));

test('exact numbers: JSON is written as it was read, with the same values as JSON.parse gives', () => {
  fc.assert(
    fc.property(json, (members) => {
      const given = `{"x":${members}}`;
      const value = parseExact(given);
      expect(value).toEqual(JSON.parse(given));
      expect(stringifyExact(value, value).replaceAll(/\s/g, '')).toBe(given.replaceAll(/\s/g, ''));
    }),
    { numRuns: 2_000 },
  );
});

test('exact numbers: copied and merged members keep their exact text, and a later number of the same name replaces it', () => {
  const one = parseExact('{"a":1.0,"list":[1e400],"c":-0}') as Record<string, unknown>;
  const other = parseExact('{"c":2,"d":23851234567890123}') as Record<string, unknown>;
  const merged = mergeMembers(one, undefined, other);
  copyMember(merged, 'e', one, 'a');
  expect(stringifyExact(merged, merged)).toBe('{"a":1.0,"list":[1e400],"c":2,"d":23851234567890123,"e":1.0}');
  expect(numberText(merged, 'd')).toBe('23851234567890123');
  merged['d'] = 5;
  expect(stringifyExact(merged, merged)).toContain('"d":5');
});

test('exact numbers: long numbers that JavaScript writes exactly need no exact text, and do not hide later numbers that do', () => {
  expect(mayHoldExact('{"a":1763700000000.125,"b":[19.990000000000002,1e-7],"c":-0.1}')).toBe(false);
  for (const text of ['[19.990000000000002,1.10]', '[1e-7 , 1e5]', '{"a":1763700000000.125,"b":-0}']) {
    const value = parseExact(text);
    expect(stringifyExact(value, value)).toBe(text.replaceAll(' ', ''));
  }
});

test('exact numbers: JSON without exact numbers is parsed as usual, and invalid JSON is refused', () => {
  expect(holdsExact(parseExact('{"a":1,"b":"1.0"}'))).toBe(false);
  for (const text of ['{"a":1.0', '{"a":01.0}', '{"a":1.0,}', '{"a":-}', '[1.0 2]', '{"a":1.}']) {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  }
});
