import { PlanError } from '../values/plan-error.ts';
import { operandItemsMax, operandTextMax } from '../values/rule-limits.ts';
import { numberForm, spanForm } from '../values/value-forms.ts';
import type { Span } from '../values/value-forms.ts';

/** A single value that a condition may compare with. */
export type Scalar = string | number | boolean | null;

/** The kinds of a condition's value. Each kind has a function below, named after it, that reads such a value. */
export const operandKinds = ['nothing', 'value', 'text', 'number', 'date', 'list', 'range', 'expression'] as const;
export type OperandKind = (typeof operandKinds)[number];

/** The operand of IsBetween; both ends are included. */
export type Range =
  | { readonly kind: 'numbers'; readonly low: number; readonly high: number }
  | { readonly kind: 'instants'; readonly startMs: number; readonly endMs: number };

/** A single value. Throws PlanError naming the field, like every function here. */
export function scalarOperand(value: unknown, field: string): Scalar {
  if (isScalar(value)) return shortEnough(value, field);
  throw new PlanError(field, 'must be text, a number, true, false or null');
}

/** Text that is not empty: every text contains an empty one. */
export function textOperand(value: unknown, field: string): string {
  const scalar = scalarOperand(value, field);
  const text = scalar === null ? '' : String(scalar);
  if (text === '') throw new PlanError(field, 'must be text, not empty');
  return text;
}

/** A number, or the text of a number. */
export function numberOperand(value: unknown, field: string): number {
  const number = numberForm(value);
  if (number === undefined) throw new PlanError(field, 'must be a number');
  return number;
}

/** A date or a date and time. */
export function spanOperand(value: unknown, field: string): Span {
  const span = spanForm(value);
  if (span === undefined) {
    throw new PlanError(field, 'must be an ISO 8601 date, such as 2026-01-31 or 2026-01-31T10:00:00Z, or epoch ms');
  }
  return span;
}

/** Several values: a list, or text with commas between them (the space around each is dropped), or just one value. */
export function listOperand(value: unknown, field: string): readonly Scalar[] {
  const items = itemsOf(value);
  if (items.length === 0) throw new PlanError(field, 'must be a list, or values with commas between them');
  if (items.length > operandItemsMax) throw new PlanError(field, `must have at most ${operandItemsMax} values`);
  return items.map((item) => scalarOperand(item, field));
}

/** Two numbers or two dates, the lower first: a list of both, or text with a comma between them. */
export function rangeOperand(value: unknown, field: string): Range {
  const [first, second, ...rest] = itemsOf(value);
  const range = rest.length > 0 ? undefined : (numberRange(first, second) ?? instantRange(first, second));
  if (range === undefined) throw new PlanError(field, 'must be two numbers or two dates with a comma between them');
  const inOrder = range.kind === 'numbers' ? range.low <= range.high : range.startMs <= range.endMs;
  if (!inOrder) throw new PlanError(field, 'must have the lower end first');
  return range;
}

function numberRange(first: unknown, second: unknown): Range | undefined {
  const low = numberForm(first);
  const high = numberForm(second);
  return low === undefined || high === undefined ? undefined : { kind: 'numbers', low, high };
}

function instantRange(first: unknown, second: unknown): Range | undefined {
  const start = spanForm(first);
  const end = spanForm(second);
  if (start === undefined || end === undefined) return undefined;
  return { kind: 'instants', startMs: start.startMs, endMs: end.endMs };
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return isScalar(value) ? [value] : [];
  if (value.length > operandTextMax) return [value];
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function shortEnough(value: Scalar, field: string): Scalar {
  if (typeof value !== 'string' || value.length <= operandTextMax) return value;
  throw new PlanError(field, `must be at most ${operandTextMax} characters`);
}
