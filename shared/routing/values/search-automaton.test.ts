import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { createSearchAutomaton } from './search-automaton.ts';
import { anyText } from '../../testing/any-text.ts';

const everything = Number.POSITIVE_INFINITY;

test.each([
  'b+',
  '^b',
  'b$',
  '(?m)^b$',
  '(?m)^ab|^-',
  '(?m)^',
  '(?m)a$\n^b',
  String.raw`\bab\b`,
  String.raw`\Ba\B`,
  String.raw`(^|\b)a`,
  String.raw`\b^a`,
  String.raw`a$\b|b`,
  '(?s)a.b',
  'a.b',
  '(?i)straSSe|ſ',
  String.raw`\p{Greek}{2}`,
  '[^a]b',
  '(a|b)*a(a|b){6}$',
  '(?:a?){30}-',
  '^$',
  'x*',
  '[^\\x00-\\x{10FFFF}]',
])('search automaton: %s: matches the same texts as the regex library', (pattern) => {
  const expression = RE2JS.compile(pattern);
  const automaton = createSearchAutomaton(expression);
  const letter = fc.constantFrom('a', 'b', 'B', 's', 'S', 'ſ', 't', 'r', 'e', '-', ' ', '\n', '_', 'α', '𝒳', '\ud835');
  const text = fc.oneof(fc.string({ unit: letter, maxLength: 12 }), anyText());
  fc.assert(
    fc.property(text, (value) => {
      expect(automaton?.(value, everything)).toBe(expression.test(value));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['(?m)^b$', 'a\nb', true],
  ['(?m)^b$', 'a\nb\na', true],
  ['(?m)^b', 'ab', false],
  ['^b', 'a\nb', false],
])(
  'search automaton: %s: a line where no match can begin does not end the search: match in %j: %s',
  (pattern, text, found) => {
    expect(createSearchAutomaton(RE2JS.compile(pattern))?.(text, everything)).toBe(found);
  },
);

test('search automaton: searches only the first characters of a text, even if they end within a surrogate pair', () => {
  const automaton = createSearchAutomaton(RE2JS.compile('^.$'));
  expect(automaton?.('ab', 1)).toBe(true);
  expect(automaton?.('𝒳', 1)).toBe(true);
  expect(automaton?.('ab', 2)).toBe(false);
});

test.each(['a[ab]{900}[cd]', 'a[ab]{20}c', '.{900}.{900}[xy]$', 'foo.{0,100}bar'])(
  'search automaton: %s: no automaton is made, as it would be too large',
  (pattern) => {
    expect(createSearchAutomaton(RE2JS.compile(pattern))).toBeUndefined();
  },
);
