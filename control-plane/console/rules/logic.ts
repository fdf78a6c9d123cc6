import type { JsonObject } from '../api/types.ts';

/** One value with which a condition compares. */
export type Scalar = string | number | boolean | null;

export type Condition = {
  readonly property: string;
  readonly operator: string;
  readonly value?: Scalar | readonly Scalar[];
};

/** The conditions of a rule, in the API's format. */
export type Logic =
  | { readonly condition: Condition }
  | { readonly AND: readonly Logic[] }
  | { readonly OR: readonly Logic[] }
  | { readonly NOT: Logic };

/** The shape of a condition's value, by operator. */
export type OperandKind = 'nothing' | 'value' | 'text' | 'number' | 'date' | 'list' | 'range' | 'expression';

export type Operator = { readonly name: string; readonly summary: string; readonly takes: OperandKind };

/** Reads a stored or typed value as conditions; undefined if it has another form. Null members count as absent. */
export function readLogic(given: unknown): Logic | undefined {
  if (!isObject(given)) return undefined;
  const [member, ...others] = Object.entries(given).filter(([, content]) => content !== null && content !== undefined);
  if (member === undefined || others.length > 0) return undefined;
  const [kind, content] = member;
  switch (kind) {
    case 'condition':
      return isCondition(content) ? { condition: content } : undefined;
    case 'AND':
    case 'OR': {
      const parts = Array.isArray(content) ? content.map(readLogic) : [];
      const read = parts.filter((part) => part !== undefined);
      if (read.length === 0 || read.length < parts.length) return undefined;
      return kind === 'AND' ? { AND: read } : { OR: read };
    }
    case 'NOT': {
      const part = readLogic(content);
      return part === undefined ? undefined : { NOT: part };
    }
    default:
      return undefined;
  }
}

function isCondition(given: unknown): given is Condition {
  return isObject(given) && typeof given['property'] === 'string' && typeof given['operator'] === 'string';
}

function isObject(given: unknown): given is JsonObject {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** The conditions in words, for lists. */
export function sayLogic(logic: Logic): string {
  if ('condition' in logic) {
    const { property, operator, value } = logic.condition;
    const said = Array.isArray(value) ? value.join(', ') : value === undefined ? '' : String(value);
    return `${property} ${sayOperator(operator)} ${said}`.trim();
  }
  if ('NOT' in logic) return `not (${sayLogic(logic.NOT)})`;
  const [parts, joint] = 'AND' in logic ? [logic.AND, ' and '] : [logic.OR, ' or '];
  return parts
    .map((part) => ('condition' in part || 'NOT' in part ? sayLogic(part) : `(${sayLogic(part)})`))
    .join(joint);
}

/** `IsGreaterThan` → `is greater than` */
export function sayOperator(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

/** The lines of text in which a condition's value is edited: one per item of a list, two for a range, otherwise one. */
export function linesOf(value: Condition['value'], takes: OperandKind): readonly string[] {
  const items = itemsOf(value, takes).map((item) => (item === null ? '' : String(item)));
  if (takes === 'range') return [items[0] ?? '', items[1] ?? ''];
  return takes === 'list' ? items : [items[0] ?? ''];
}

/** The value written in `lines`. Numbers, booleans and null in `before` keep their type if the text allows it. */
export function valueOf(
  lines: readonly string[],
  takes: OperandKind,
  before: Condition['value'],
): NonNullable<Condition['value']> | null {
  const earlier = itemsOf(before, takes);
  const items = lines.map((line, index) => readScalar(line, earlier[index < earlier.length ? index : 0]));
  const [one = ''] = items;
  return takes === 'list' || takes === 'range' ? items : one;
}

/**
 * The condition with another operator, and with its value converted to what that operator takes. `takesNow` belongs to
 * the old operator.
 */
export function withOperator(condition: Condition, { name, takes }: Operator, takesNow: OperandKind): Condition {
  const { property, value } = condition;
  if (takes === 'nothing') return { property, operator: name };
  const lines = linesOf(value, takesNow === 'nothing' ? takes : takesNow);
  const kept = takes === 'range' ? [lines[0] ?? '', lines[1] ?? ''] : takes === 'list' ? lines : lines.slice(0, 1);
  return { property, operator: name, value: valueOf(kept, takes, value) };
}

/** The items of a value. For operators that take a list or a range, commas separate the items of a text. */
function itemsOf(value: Condition['value'], takes: OperandKind): readonly Scalar[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as readonly Scalar[];
  const scalar = value as Scalar;
  if ((takes !== 'list' && takes !== 'range') || typeof scalar !== 'string') return [scalar];
  return scalar
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readScalar(line: string, before: Scalar | undefined): Scalar {
  if (before === null && line === '') return null;
  if (typeof before === 'number' && line.trim() !== '' && String(Number(line)) === line.trim()) return Number(line);
  if (typeof before === 'boolean' && (line === 'true' || line === 'false')) return line === 'true';
  return line;
}
