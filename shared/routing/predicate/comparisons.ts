import type { Range, Scalar } from './operands.ts';
import { numberForm, spanForm, textForm } from '../values/value-forms.ts';

/** Whether a property's value passes. Total: every JSON value, and undefined, has an answer. */
export type Test = (actual: unknown) => boolean;

/**
 * Holds for a value that is one of these. Text is compared exactly; a number equals text that is that number (5 and
 * `"5.0"`), a boolean equals the text `true` or `false`; null equals null only. Lists and objects are none of them.
 */
export function isOneOf(expected: readonly Scalar[]): Test {
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

/** Holds for the value, or for one item where the value is a list. */
export function anyOf(test: Test): Test {
  return (actual) => (Array.isArray(actual) ? actual.some(test) : test(actual));
}

/** Holds for text (numbers and booleans as text) that passes. */
export function textThat(test: (text: string) => boolean): Test {
  return (actual) => {
    const text = textForm(actual);
    return text !== undefined && test(text);
  };
}

/** Holds for a number, or text that is one, that passes. */
export function numberThat(test: (number: number) => boolean): Test {
  return (actual) => {
    const number = numberForm(actual);
    return number !== undefined && test(number);
  };
}

/** Holds for a date that passes; a date without time of day is the start of its day. */
export function instantThat(test: (atMs: number) => boolean): Test {
  return (actual) => {
    const span = spanForm(actual);
    return span !== undefined && test(span.startMs);
  };
}

export function isWithin(range: Range): Test {
  switch (range.kind) {
    case 'numbers':
      return numberThat((number) => number >= range.low && number <= range.high);
    case 'instants':
      return instantThat((atMs) => atMs >= range.startMs && atMs <= range.endMs);
  }
}

/** Holds wherever the test does not, except that a missing property passes neither. */
export function unless(test: Test): Test {
  return (actual) => actual !== undefined && !test(actual);
}
