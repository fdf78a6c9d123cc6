import { anyOf, instantThat, isOneOf, isWithin, numberThat, textThat, unless } from './comparisons.ts';
import type { Test } from './comparisons.ts';
import { listOperand, numberOperand, rangeOperand, scalarOperand, spanOperand, textOperand } from './operands.ts';
import { compileRegex } from '../values/regex.ts';
import { isFalsyForm, textForm } from '../values/value-forms.ts';

/** How a condition compares a property with its value. */
export type Operator = {
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Whether the condition's `value` is looked at; where it is not, it may be anything or absent. */
  readonly takesValue: boolean;
  /** Reads the condition's value once. Throws PlanError naming `field` where the value does not fit. */
  compile(value: unknown, field: string): Test;
};

/**
 * Every operator. What they share:
 *
 * - A property that is missing passes IsUndefined and IsFalsy only. So IsNot, DoesNotContain and their like do not hold
 *   for it either; a rule that means "missing or different" says so with NOT, or with OR and IsUndefined.
 * - A value of the wrong kind (a list where a number is asked for) passes no positive operator, and every negative one.
 * - Text is compared with its case. A condition's value may always be text: `"5"` is 5, `"a,b"` is a list.
 */
export const operators = {
  Is: comparing('The property equals the value; a number equals text that is the same number.', is),
  IsNot: comparing('The property is there and does not equal the value.', negated(is)),
  Contains: comparing('The text holds the value somewhere; a list has it as one of its items.', contains),
  DoesNotContain: comparing('The text, or list, is there and does not hold the value.', negated(contains)),
  StartsWith: comparing('The text begins with the value.', (value, field) => {
    const start = textOperand(value, field);
    return textThat((text) => text.startsWith(start));
  }),
  EndsWith: comparing('The text ends with the value.', (value, field) => {
    const end = textOperand(value, field);
    return textThat((text) => text.endsWith(end));
  }),
  IsFalsy: asking('Missing, null, false, 0, an empty text, list or object, or the text "false" or "0".', isFalsyForm),
  IsTruthy: asking('There and not falsy.', (actual) => !isFalsyForm(actual)),
  IsNull: asking('There, and null.', (actual) => actual === null),
  IsNotNull: asking('There, and not null.', (actual) => actual !== undefined && actual !== null),
  IsUndefined: asking('Missing: the path leads nowhere.', (actual) => actual === undefined),
  IsNotUndefined: asking('There, be it null.', (actual) => actual !== undefined),
  IsGreaterThan: numeric('A number above the value.', (number, value) => number > value),
  IsGreaterThanOrEqual: numeric('A number that is the value or above.', (number, value) => number >= value),
  IsLessThan: numeric('A number below the value.', (number, value) => number < value),
  IsLessThanOrEqual: numeric('A number that is the value or below.', (number, value) => number <= value),
  IsIn: comparing('Equals one of the values; of a list, one item does.', isIn),
  IsNotIn: comparing('There, and equals none of the values; of a list, no item does.', negated(isIn)),
  IsFoundIn: comparing(
    'Its text occurs within one of the values (Contains, turned round); of a list, one item.',
    isFoundIn,
  ),
  IsNotFoundIn: comparing('There, and its text occurs within none of the values.', negated(isFoundIn)),
  IsTrue: asking('True, or the text "true".', (actual) => isBoolean(actual, 'true')),
  IsFalse: asking('False, or the text "false".', (actual) => isBoolean(actual, 'false')),
  IsBefore: dated('Earlier than the value; a date alone means before that UTC day.', (ms, value) => ms < value.startMs),
  IsAfter: dated('Later than the value; a date alone means after that UTC day.', (ms, value) => ms > value.endMs),
  IsBetween: comparing('A number or date within two ends, both included.', (value, field) =>
    isWithin(rangeOperand(value, field)),
  ),
  IsOnOrBefore: dated(
    'Not later than the value; a date alone includes that UTC day.',
    (ms, value) => ms <= value.endMs,
  ),
  IsOnOrAfter: dated('Not earlier than the value; a date alone includes that day.', (ms, value) => ms >= value.startMs),
  MatchesRegex: comparing('The text matches the regular expression (RE2 syntax).', matches(false)),
  MatchesRegexIgnoreCase: comparing('As MatchesRegex, whatever the case.', matches(true)),
  DoesNotMatchRegex: comparing('There, and its text does not match.', negated(matches(false))),
  DoesNotMatchRegexIgnoreCase: comparing('As DoesNotMatchRegex, whatever the case.', negated(matches(true))),
} as const satisfies Readonly<Record<string, Operator>>;

export type OperatorName = keyof typeof operators;

export const operatorNames = Object.keys(operators) as readonly OperatorName[];

export function isOperatorName(name: unknown): name is OperatorName {
  return typeof name === 'string' && Object.hasOwn(operators, name);
}

type CompileTest = Operator['compile'];

function comparing(summary: string, compile: CompileTest): Operator {
  return { summary, takesValue: true, compile };
}

function asking(summary: string, test: Test): Operator {
  return { summary, takesValue: false, compile: () => test };
}

function negated(compile: CompileTest): CompileTest {
  return (value, field) => unless(compile(value, field));
}

function numeric(summary: string, holds: (number: number, value: number) => boolean): Operator {
  return comparing(summary, (value, field) => {
    const bound = numberOperand(value, field);
    return numberThat((number) => holds(number, bound));
  });
}

type Dated = ReturnType<typeof spanOperand>;

function dated(summary: string, holds: (atMs: number, value: Dated) => boolean): Operator {
  return comparing(summary, (value, field) => {
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
