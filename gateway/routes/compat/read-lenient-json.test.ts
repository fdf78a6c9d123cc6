import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nullBareNumbers } from '../../payload/lenient-value.ts';
import { readLenientJson } from './read-lenient-json.ts';
import { requestKey } from './source-key.ts';

const limits = { depthMax: 8, keysMax: 20 };
const read = (text: string | Uint8Array) => readLenientJson(Buffer.from(text), limits);

test('lenient JSON: NaN and Infinity become null anywhere outside of strings', () => {
  const body = '{"a":NaN,"b":[-Infinity,Infinity],"NaN":"NaN","c":"say \\"NaN\\"","d":-1,"I":"I"}';
  expect(read(body)).toEqual({
    value: { a: null, b: [null, null], NaN: 'NaN', c: 'say "NaN"', d: -1, I: 'I' },
    mended: true,
  });
});

test('lenient JSON: text that already is JSON is not changed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(nullBareNumbers(text)).toBe(text);
    }),
  );
});

test('lenient JSON: null characters and keys that reach a prototype are left out, and the rest stays', () => {
  expect(read(String.raw`{"a":"x\u0000y","__proto__":{"evil":1},"b":{"constructor":{"prototype":1}},"c":1}`)).toEqual({
    value: { a: 'xy', b: {}, c: 1 },
    mended: false,
  });
});

test('lenient JSON: a list is read as an object is', () => {
  expect(read('[{"a":NaN},{"b":"x\\u0000y","__proto__":1}]')).toEqual({
    value: [{ a: null }, { b: 'xy' }],
    mended: true,
  });
});

test.each([
  ['a key that comes twice', '{"type":"a","type":"b"}', { type: 'b' }],
  ['a number that is large', '{"n":9007199254740993}', { n: 9_007_199_254_740_992 }],
])('lenient JSON: %s is read', (_, text, value) => {
  expect(read(text)).toEqual({ value, mended: false });
});

test.each<readonly [string, string | Uint8Array]>([
  ['is empty', ''],
  ['is no JSON', '{"a":'],
  ['is a text', '"a"'],
  ['is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['nests too deep', '{"a":'.repeat(9) + '1' + '}'.repeat(9)],
  ['has too many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 1])))],
])('lenient JSON: a body that %s is refused', (_, body) => {
  expect(read(body)).toMatchObject({ refusal: { code: 400 } });
});

test.each([
  ['the header', `Basic ${btoa('one:')}`, 'two', 'writeKey=three', 'one'],
  ['the header with a password', `basic ${btoa('one:secret:x')}`, undefined, '', 'one'],
  ['the body', '', 'two', 'writeKey=three', 'two'],
  ['the body where the header is of another scheme', 'Bearer x', 'two', '', 'two'],
  ['the query', `Basic ${btoa(':')}`, '', 'a=b&writeKey=three', 'three'],
  ['nowhere', '', null, 'a=b', undefined],
])('source key: in %s', (_, authorization, inBody, query, expected) => {
  expect(requestKey(authorization, inBody, query)).toBe(expected);
});
