import type { OperandKind, Range, Scalar } from './operands.ts';
import { listOperand, numberOperand, rangeOperand, scalarOperand, spanOperand, textOperand } from './operands.ts';
import { compileRegex, searchedCharactersMax } from '../values/regex.ts';
import type { OperatorName } from './operator-names.ts';
import { isFalsyForm, numberForm, spanForm, textForm } from '../values/value-forms.ts';

/** How a condition compares a property with its value. */
export type Operator = {
  /** One sentence for the documentation. */
  readonly summary: string;
  /** The kind of the condition's `value`. With `nothing` the operator ignores the value. */
  readonly takes: OperandKind;
  /** The cost, in units of work, of comparing a text of this many characters with the value. */
  unitsOf(value: unknown): (characters: number) => number;
  /** Compiles the condition's value. Throws PlanError naming `field` if the value does not fit. */
  compile(value: unknown, field: string): Test;
};

/**
 * Every operator. These rules hold for all of them:
 *
 * - A missing property passes only IsUndefined and IsFalsy. So IsNot, DoesNotContain and the like do not hold for it
 *   either; for "missing or different" a rule uses NOT, or OR with IsUndefined.
 * - A value of the wrong kind (a list for a numeric operator) passes no positive operator, and every negative one.
 * - Text is compared case-sensitively. A condition's value may always be text: `"5"` is 5, `"a,b"` is a list.
 */
export const operators = {
  Is: comparing('value', 'The property equals the value; a number equals text that is the same number.', is),
  IsNot: comparing('value', 'The property is present and does not equal the value.', negated(is)),
  Contains: comparing('text', 'The text contains the value; a list has it as an item.', contains, searchUnits),
  DoesNotContain: comparing(
    'text',
    'The text or list is present and does not contain the value.',
    negated(contains),
    searchUnits,
  ),
  StartsWith: comparing('text', 'The text begins with the value.', (value, field) => {
    const start = textOperand(value, field);
    return textThat((text) => text.startsWith(start));
  }),
  EndsWith: comparing('text', 'The text ends with the value.', (value, field) => {
    const end = textOperand(value, field);
    return textThat((text) => text.endsWith(end));
  }),
  IsFalsy: asking('Missing, null, false, 0, an empty text, list or object, or the text "false" or "0".', isFalsyForm),
  IsTruthy: asking('Present and not falsy.', (actual) => !isFalsyForm(actual)),
  IsNull: asking('Present, and null.', (actual) => actual === null),
  IsNotNull: asking('Present, and not null.', (actual) => actual !== undefined && actual !== null),
  IsUndefined: asking('Missing: nothing is at the path.', (actual) => actual === undefined),
  IsNotUndefined: asking('Present, even if null.', (actual) => actual !== undefined),
  IsGreaterThan: numeric('A number above the value.', (number, value) => number > value),
  IsGreaterThanOrEqual: numeric('A number equal to or above the value.', (number, value) => number >= value),
  IsLessThan: numeric('A number below the value.', (number, value) => number < value),
  IsLessThanOrEqual: numeric('A number equal to or below the value.', (number, value) => number <= value),
  IsIn: comparing('list', 'Equals one of the values. One matching item of a list is enough.', isIn),
  IsNotIn: comparing(
    'list',
    'Present, and equals none of the values. No item of a list equals any of the values.',
    negated(isIn),
  ),
  IsFoundIn: comparing(
    'list',
    'One of the values contains the text. One matching item of a list is enough.',
    isFoundIn,
    foundInUnits,
  ),
  IsNotFoundIn: comparing(
    'list',
    'Present, and none of the values contains the text.',
    negated(isFoundIn),
    foundInUnits,
  ),
  IsTrue: asking('True, or the text "true".', (actual) => isBoolean(actual, 'true')),
  IsFalse: asking('False, or the text "false".', (actual) => isBoolean(actual, 'false')),
  IsBefore: dated('Earlier than the value; a date alone means before that UTC day.', (ms, value) => ms < value.startMs),
  IsAfter: dated('Later than the value; a date alone means after that UTC day.', (ms, value) => ms > value.endMs),
  IsBetween: comparing('range', 'A number or date between two values, both included.', (value, field) =>
    isWithin(rangeOperand(value, field)),
  ),
  IsOnOrBefore: dated(
    'Not later than the value; a date alone includes that UTC day.',
    (ms, value) => ms <= value.endMs,
  ),
  IsOnOrAfter: dated('Not earlier than the value; a date alone includes that day.', (ms, value) => ms >= value.startMs),
  MatchesRegex: comparing(
    'expression',
    'The text matches the regular expression (RE2 syntax).',
    matches(false),
    regexUnits,
  ),
  MatchesRegexIgnoreCase: comparing('expression', 'As MatchesRegex, ignoring case.', matches(true), regexUnits),
  DoesNotMatchRegex: comparing(
    'expression',
    'Present, and its text does not match.',
    negated(matches(false)),
    regexUnits,
  ),
  DoesNotMatchRegexIgnoreCase: comparing(
    'expression',
    'As DoesNotMatchRegex, ignoring case.',
    negated(matches(true)),
    regexUnits,
  ),
} as const satisfies Readonly<Record<OperatorName, Operator>>;

export function isOperatorName(name: unknown): name is OperatorName {
  return typeof name === 'string' && Object.hasOwn(operators, name);
}

type CompileTest = Operator['compile'];

type UnitsOf = Operator['unitsOf'];

function comparing(
  takes: Exclude<OperandKind, 'nothing'>,
  summary: string,
  compile: CompileTest,
  unitsOf: UnitsOf = readUnits,
): Operator {
  return { summary, takes, unitsOf, compile };
}

function asking(summary: string, test: Test): Operator {
  return { summary, takes: 'nothing', unitsOf: readUnits, compile: () => test };
}

/** Characters compared in the time of one table look-up. */
const comparedTogether = 16;

/** A text is read once at most. */
function readUnits(): (characters: number) => number {
  return (characters) => 1 + characters / comparedTogether;
}

/** At worst the value is compared at each position of the text. */
function searchUnits(value: unknown): (characters: number) => number {
  const length = lengthOf(value);
  return (characters) => 1 + characters * (1 + Math.min(length, characters) / comparedTogether);
}

/** Like `searchUnits`, with value and text exchanged. */
function foundInUnits(value: unknown): (characters: number) => number {
  const lengths = (Array.isArray(value) ? value : [value]).map(lengthOf);
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const longest = Math.max(0, ...lengths);
  return (characters) => lengths.length + (characters > longest ? 0 : whole * (1 + characters / comparedTogether));
}

function regexUnits(): (characters: number) => number {
  return (characters) => 1 + Math.min(characters, searchedCharactersMax);
}

function lengthOf(value: unknown): number {
  return textForm(value)?.length ?? 0;
}

function negated(compile: CompileTest): CompileTest {
  return (value, field) => unless(compile(value, field));
}

function numeric(summary: string, holds: (number: number, value: number) => boolean): Operator {
  return comparing('number', summary, (value, field) => {
    const bound = numberOperand(value, field);
    return numberThat((number) => holds(number, bound));
  });
}

type Dated = ReturnType<typeof spanOperand>;

function dated(summary: string, holds: (atMs: number, value: Dated) => boolean): Operator {
  return comparing('date', summary, (value, field) => {
    const span = spanOperand(value, field);
    return instantThat((atMs) => holds(atMs, span));
  });
}

function is(value: unknown, field: string): Test {
  return isOneOf([scalarOperand(value, field)]);
}

function isIn(value: unknown, field: string): Test {
  return anyOf(isOneOf(listOperand(value, field)));
}

function contains(value: unknown, field: string): Test {
  const part = textOperand(value, field);
  const isItem = is(value, field);
  const holdsPart = textThat((text) => text.includes(part));
  return (actual) => (Array.isArray(actual) ? actual.some(isItem) : holdsPart(actual));
}

function isFoundIn(value: unknown, field: string): Test {
  const texts = listOperand(value, field).flatMap((item) => (item === null ? [] : [String(item)]));
  return anyOf(textThat((text) => text !== '' && texts.some((within) => within.includes(text))));
}

function isBoolean(actual: unknown, name: 'true' | 'false'): boolean {
  return textForm(actual)?.trim().toLowerCase() === name;
}

function matches(ignoreCase: boolean): CompileTest {
  return (value, field) => textThat(compileRegex(textOperand(value, field), ignoreCase, field));
}

/** Whether a property's value passes. Total: every JSON value, and undefined, has an answer. */
type Test = (actual: unknown) => boolean;

/**
 * Holds for a value that is one of the expected values. Text is compared exactly; a number equals text that is that
 * number (5 and `"5.0"`), a boolean equals the text `true` or `false`; null equals null only. Lists and objects equal
 * nothing.
 */
function isOneOf(expected: readonly Scalar[]): Test {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const plainNumbers = new Set<number>();
  for (const item of expected) {
    if (typeof item === 'number') plainNumbers.add(item);
    else if (item !== null) texts.add(String(item));
    const number = numberForm(item);
    if (number !== undefined) numbers.add(number);
  }
  const booleans = new Set([...texts].map((text) => text.trim().toLowerCase()));
  const holdsNull = expected.includes(null);
  return (actual) => {
    if (typeof actual === 'string') return texts.has(actual) || isAmong(plainNumbers, actual);
    if (typeof actual === 'number') return numbers.has(actual);
    if (typeof actual === 'boolean') return booleans.has(String(actual));
    return actual === null && holdsNull;
  };
}

function isAmong(numbers: ReadonlySet<number>, text: string): boolean {
  if (numbers.size === 0) return false;
  const number = numberForm(text);
  return number !== undefined && numbers.has(number);
}

/** Holds if the value passes or, for a list, one of its items. */
function anyOf(test: Test): Test {
  return (actual) => (Array.isArray(actual) ? actual.some(test) : test(actual));
}

/** Holds for text (numbers and booleans as text) that passes. */
function textThat(test: (text: string) => boolean): Test {
  return (actual) => {
    const text = textForm(actual);
    return text !== undefined && test(text);
  };
}

/** Holds for a number, or a text that is a number, that passes. */
function numberThat(test: (number: number) => boolean): Test {
  return (actual) => {
    const number = numberForm(actual);
    return number !== undefined && test(number);
  };
}

/** Holds for a date that passes; a date without time of day is the start of its day. */
function instantThat(test: (atMs: number) => boolean): Test {
  return (actual) => {
    const span = spanForm(actual);
    return span !== undefined && test(span.startMs);
  };
}

function isWithin(range: Range): Test {
  switch (range.kind) {
    case 'numbers':
      return numberThat((number) => number >= range.low && number <= range.high);
    case 'instants':
      return instantThat((atMs) => atMs >= range.startMs && atMs <= range.endMs);
  }
}

/** Holds if the test does not, but never for a missing property. */
function unless(test: Test): Test {
  return (actual) => actual !== undefined && !test(actual);
}
