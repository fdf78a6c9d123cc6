import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PlanError } from './plan-error.ts';
import { compileRegex, searchedCharactersMax } from './regex.ts';
import { anyText } from '../../testing/any-text.ts';

const matches = (pattern: string, text: string, ignoreCase = false): boolean =>
  compileRegex(pattern, ignoreCase, 'value')(text);

test.each([
  ['b+', 'abbc', true],
  ['^b+$', 'abbc', false],
  [String.raw`\bcart\b`, 'my cart here', true],
  [String.raw`^[\w.+-]+@example\.com$`, 'ada.l@example.com', true],
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', '5f0c1a4e-1b2c-4d5e-8f90-0123456789ab', true],
  [String.raw`\p{Greek}+`, 'αβγ', true],
  ['[[:digit:]]', 'a1', true],
  ['[]a]+', ']', true],
  [String.raw`\Qa{3}\E`, 'a{3}', true],
  ['a{', 'a{', true],
])('regex: %s in %s: %s', (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test('regex: an expression that is in use is not compiled again', () => {
  const compiled = compileRegex('ca[rt]+', false, 'logic.value');
  expect(compileRegex('ca[rt]+', false, 'expected')).toBe(compiled);
  expect(compileRegex('ca[rt]+', true, 'expected')).not.toBe(compiled);
});

test('regex: ignores case only when asked to', () => {
  expect(matches('^cart', 'CART')).toBe(false);
  expect(matches('^cart', 'CART', true)).toBe(true);
});

test.each([
  ['look-around', '(?=a)'],
  ['a back-reference', String.raw`(a)\1`],
  ['an open group', '(a'],
  ['an open class', '[a'],
  ['nothing', ''],
  ['more than 1,000 characters', 'a'.repeat(1_001)],
  ['too large a count', 'a{1001}'],
  ['counts that multiply', '(?:a{50}){50}'],
  ['a long body often', `(?:${'a?'.repeat(490)}){1000}`],
  ['a hidden body', String.raw`\Q[\E(?:[a]{30}[b]{30}[c]{30}){30}`],
  ['many large counts', 'a{900}b{900}c{900}'],
  // To remember enough of the text, an automaton for these would need more states than the limit allows.
  ['a count after what it may begin with', 'a[ab]{900}[cd]'],
  ['another such count', 'a.{20}b'],
  ['counts of all places at once', '.{900}.{900}[xy]$'],
  ['such a count within a loop', '[ab]*a[ab]{900}[xc]$'],
])('regex: refuses %s, naming the field', (_, pattern) => {
  const compile = (): unknown => compileRegex(pattern, false, 'logic.condition.value');
  expect(compile).toThrow(PlanError);
  expect(compile).toThrow(/^logic\.condition\.value /);
});

test('regex: only the first characters of a long text are searched', () => {
  const text = `${'a'.repeat(searchedCharactersMax - 1)}bc`;
  expect(matches('b', text)).toBe(true);
  expect(matches('c', text)).toBe(false);
});

test('regex: any pattern compiles or is refused, and searches any text', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{2}',
    '{9,}',
    '*',
    '+',
    '?',
    '|',
    '^',
    '$',
    '\\',
    '[:',
  );
  const pattern = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(pattern, anyText(), (source, text) => {
      try {
        expect(matches(source, text)).toBeTypeOf('boolean');
      } catch (error) {
        expect(error).toBeInstanceOf(PlanError);
      }
    }),
    { numRuns: 300 },
  );
});

// A backtracking engine would not finish these.
test.each([
  ['(a+)+[!?]$', 'a'.repeat(60_000)],
  ['(a|a)*[!?]$', 'a'.repeat(60_000)],
  ['([a-z]+)*[0-9]$', 'a'.repeat(60_000)],
  ['(.*)(.*)(.*)(.*)(.*)[xy]$', 'a'.repeat(60_000)],
  ['(x+x+)+[yz]$', 'x'.repeat(60_000)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(60_000)],
  ['.{100}[xy]$', `${'ab'.repeat(30_000)}xz`],
])('regex: hostile texts: %s: the search ends without a match', (pattern, text) => {
  expect(matches(pattern, text)).toBe(false);
});
