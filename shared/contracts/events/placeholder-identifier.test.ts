import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlaceholder, isPlaceholderAt } from './placeholder-identifier.ts';

const written = [
  'undefined',
  'null',
  'none',
  'nan',
  'true',
  'false',
  '0',
  '-1',
  'unknown',
  'anonymous',
  'guest',
  'object Object',
  '0000',
  '00000000-0000-0000-0000-000000000000',
  'xxxxx',
  'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx',
  'not set',
  'user_id',
  'test',
  '{{ customer.key }}',
  '${profile}',
  '%%EMAIL%%',
  '%%first name%%',
  '-xxx',
  '<%= person %>',
  '$posthog_cookieless',
];

const spaces = fc.string({ unit: fc.constantFrom(' ', '\t', '\u00a0', '\u2000'), maxLength: 3 });
const brackets = fc.constantFrom(['', ''], ['[', ']'], ['(', ')'], ['<', '>'], ['{{', '}}'], ['"', '"'], ["'", "'"]);

const placeholder = fc
  .tuple(fc.constantFrom(...written), spaces, spaces, brackets, fc.boolean())
  .map(([text, before, behind, [open = '', close = ''], isUpper]) => {
    const all = `${before}${open}${text}${close}${behind}`;
    return isUpper ? all.toUpperCase() : all;
  });

test('placeholder identifiers: a placeholder is recognized in any letter case, with spaces, quotes or brackets', () => {
  fc.assert(
    fc.property(placeholder, (text) => {
      expect(isPlaceholder(text)).toBe(true);
    }),
  );
  expect(written.filter((text) => !isPlaceholder(text))).toEqual([]);
  expect(isPlaceholder('x'.repeat(64))).toBe(true);
});

test('placeholder identifiers: a text without a letter or digit identifies no visitor', () => {
  const blank = fc.string({ unit: fc.constantFrom(' ', '-', '?', '.', '_', '[', ']', '"'), maxLength: 60 });
  fc.assert(
    fc.property(blank, (text) => {
      expect(isPlaceholder(text)).toBe(true);
    }),
  );
});

test('placeholder identifiers: an identifier that tells people apart is not a placeholder, even if it begins or ends like one', () => {
  const words = fc.constantFrom(...written.map((text) => text.replace(/[^a-zA-Z0]/g, '')));
  const digits = fc.integer({ min: 1, max: 1_000_000_000 }).map(String);
  fc.assert(
    fc.property(words, digits, (word, number) => {
      expect(isPlaceholder(`${word}${number}`)).toBe(false);
      expect(isPlaceholder(`${number}-${word}`)).toBe(false);
      expect(isPlaceholder(`${word}@example.com`)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      expect(isPlaceholder(id)).toBe(false);
    }),
  );
  for (const id of [
    '1',
    '10',
    '007',
    'x',
    'xx',
    'id-1',
    'ada',
    'tester',
    '{ada}',
    '{{a}}b',
    '$ada',
    '100%%',
    'Nulla',
    'Guestrin',
    'ö',
    '😀',
    'x'.repeat(65),
    `{{${'a'.repeat(61)}}}`,
    'adaxxx',
    'b{{a}}',
    'u{{a}}',
    '{{a}}d',
    '<%a%>b',
    'b%%a%%',
  ]) {
    expect([id, isPlaceholder(id)]).toEqual([id, false]);
  }
});

test('placeholder identifiers: bytes give the same result as their text', () => {
  fc.assert(
    fc.property(
      fc.oneof(placeholder, fc.uuid(), fc.string({ unit: 'grapheme' })),
      fc.constantFrom(0, 1, 5, 1_000),
      (text, offset) => {
        const bytes = Buffer.from(`${'.'.repeat(offset)}${text}"`);
        const found = isPlaceholderAt(bytes, offset, bytes.length - 1);
        expect(found).toBe(isPlaceholder(text.toWellFormed()));
      },
    ),
  );
  expect(isPlaceholderAt(Buffer.from('"'), 0, 0)).toBe(true);
});
