import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blankRepeats } from './blank-token.ts';

// The first letters of these tokens include the letter of every JSON escape.
const tokens = [
  'src_live_0123456789',
  'n_live_0123456789ab',
  'backslash_012345678',
  'u0041_live_01234567',
  'süß_live_0123456789',
];

const blanked = (text: string, token: string): string => {
  const body = Buffer.from(text);
  blankRepeats(body, token);
  expect(body.length).toBe(Buffer.byteLength(text));
  return body.toString();
};

test.each(tokens)('blank token: %s is overwritten wherever a string holds it, whatever stands before it', (token) => {
  const text = fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'a', '/', 'é') });
  fc.assert(
    fc.property(text, text, text, (before, between, after) => {
      const value = { [`${before}${token}`]: [`${before}${token}${between}${token}${after}`] };
      const read = JSON.parse(blanked(JSON.stringify(value), token)) as object;
      expect(JSON.stringify(read)).not.toContain(token);
      const stars = '*'.repeat(Buffer.byteLength(token));
      expect(read).toEqual({ [`${before}${stars}`]: [`${before}${stars}${between}${stars}${after}`] });
    }),
  );
});

test.each([
  ['n_live_0123456789ab', String.raw`{"a":"\n_live_0123456789ab"}`],
  ['backslash_012345678', String.raw`{"a":"x\\\backslash_012345678"}`],
  ['short', '{"a":"short"}'],
  ['0123456789012345678', '{"a":0123456789012345678}'],
])('blank token: %s is not overwritten if it is short, not in a string, or begins within an escape', (token, text) => {
  expect(blanked(text, token)).toBe(text);
});
