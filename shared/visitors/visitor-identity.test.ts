import { expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../json/exact-numbers.ts';
import type { JsonObject } from '../runtime/json.ts';
import { cleanJson } from './clean-json.ts';
import { anonymousVisitorId, cleanEmail, cleanText, storedIdentity } from './visitor-identity.ts';

test.each([
  ['plain', 'plain'],
  ['', undefined],
  [null, undefined],
  [7, undefined],
  ['a\0b', 'ab'],
  ['\0', undefined],
  ['a\ud800b', 'a\ufffdb'],
  ['pair \u{1f600}', 'pair \u{1f600}'],
])('visitor identity: cleanText: %j becomes %j', (given, expected) => {
  expect(cleanText(given)).toBe(expected);
});

test('visitor identity: cleanEmail: the address is trimmed and in lower case', () => {
  expect(cleanEmail('  Ann@Example.COM ')).toBe('ann@example.com');
  expect(cleanEmail('   ')).toBeUndefined();
});

test('visitor identity: storedIdentity: keeps a value that fits into an index and hashes a longer value', () => {
  expect(storedIdentity('x'.repeat(1_024))).toHaveLength(1_024);
  const long = storedIdentity('é'.repeat(1_000));
  expect(long).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(storedIdentity('é'.repeat(1_000))).toBe(long);
});

test('visitor identity: anonymousVisitorId: is a UUID, the same for the same event only', () => {
  const id = anonymousVisitorId('a', 'e1');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(anonymousVisitorId('a', 'e1')).toBe(id);
  expect(anonymousVisitorId('a', 'e2')).not.toBe(id);
});

test('visitor identity: cleanJson: takes out what jsonb refuses, in names and values at any depth', () => {
  const given = { 'a\0': ['x\0y', { b: '\udc00' }], c: '\\u0000 as text', d: 1 };
  expect(cleanJson(given)).toEqual({ a: ['xy', { b: '\ufffd' }], c: '\\u0000 as text', d: 1 });
  const fine = { a: 'plain' };
  expect(cleanJson(fine)).toBe(fine);
});

test('visitor identity: cleanJson: numbers keep their digits', () => {
  const given = parseExact('{"a":"x\\u0000","n":9007199254740993,"l":[{"m":1.50}]}') as JsonObject;
  const cleaned = cleanJson(given);
  expect(stringifyExact(cleaned, cleaned)).toBe('{"a":"x","n":9007199254740993,"l":[{"m":1.50}]}');
});
