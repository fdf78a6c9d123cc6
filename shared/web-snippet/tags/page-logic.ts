// Imports nothing, because it runs in pages, within a script that must stay below 3 KiB gzipped.

/** A compiled trigger condition: the operator, the path of the actual value, and the value to compare with, if any. */
export type PageTest =
  | readonly ['is' | 'in', path: string, values: readonly (string | number | boolean | null)[]]
  | readonly ['has' | 'begins' | 'ends', path: string, text: string | number | boolean]
  | readonly ['>' | '>=' | '<' | '<=', path: string, number: number]
  | readonly ['falsy' | 'null' | 'there' | 'true' | 'false', path: string];

export type PageLogic =
  | PageTest
  | readonly ['and' | 'or', parts: readonly PageLogic[]]
  | readonly ['not', part: PageLogic]
  /** Holds for a value that exists and does not match. */
  | readonly ['but', test: PageTest];

type Scalar = string | number | boolean | null;

/** Evaluates a trigger's logic, whose operators have the same meaning as in the routing rules of the service. */
export function holds(logic: PageLogic, read: (path: string) => unknown): boolean {
  switch (logic[0]) {
    case 'and':
      return logic[1].every((part) => holds(part, read));
    case 'or':
      return logic[1].some((part) => holds(part, read));
    case 'not':
      return !holds(logic[1], read);
    case 'but':
      return read(logic[1][1]) !== undefined && !holds(logic[1], read);
    default:
      return passes(logic, read(logic[1]));
  }
}

function passes([operator, , wanted]: PageTest, actual: unknown): boolean {
  const text = textOf(actual);
  switch (operator) {
    case 'is':
    case 'in': {
      const isOne = (one: unknown): boolean => (wanted as readonly Scalar[]).some((value) => same(one, value));
      return operator === 'in' && Array.isArray(actual) ? actual.some(isOne) : isOne(actual);
    }
    case 'has':
      if (Array.isArray(actual)) return actual.some((one) => same(one, wanted));
      return text !== undefined && text.includes(String(wanted));
    case 'begins':
      return text !== undefined && text.startsWith(String(wanted));
    case 'ends':
      return text !== undefined && text.endsWith(String(wanted));
    case 'falsy':
      return isFalsy(actual);
    case 'null':
      return actual === null;
    case 'there':
      return actual !== undefined;
    case 'true':
    case 'false':
      return text?.trim().toLowerCase() === operator;
    default: {
      const number = numberOf(actual);
      return number !== undefined && compare(operator, number, wanted);
    }
  }
}

function compare(operator: '>' | '>=' | '<' | '<=', number: number, wanted: number): boolean {
  if (number === wanted) return operator.length === 2;
  return operator.startsWith('>') === number > wanted;
}

function same(actual: unknown, value: Scalar): boolean {
  if (actual === null || value === null) return actual === value;
  if (typeof actual === 'string')
    return typeof value === 'number' ? numberOf(actual) === value : actual === String(value);
  if (typeof actual === 'number') return numberOf(value) === actual;
  return (
    typeof actual === 'boolean' && typeof value !== 'number' && String(value).trim().toLowerCase() === String(actual)
  );
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;

function numberOf(value: unknown): number | undefined {
  const isNumber =
    typeof value === 'number' ||
    (typeof value === 'string' && value.length <= 40 && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value));
  const number = isNumber ? Number(value) : NaN;
  return Number.isFinite(number) ? number : undefined;
}

function isFalsy(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  if (typeof value === 'string') return value.length <= 40 && ['', '0', 'false'].includes(value.trim().toLowerCase());
  return value === undefined || value === null || value === false || value === 0;
}
