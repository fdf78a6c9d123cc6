import { isJsonObject } from '../../../shared/runtime/json.ts';

/** One member that differs between two payloads, by path: `data[0].custom_data.value`. */
export type Difference =
  | { readonly kind: 'missing'; readonly path: string; readonly theirs: unknown }
  | { readonly kind: 'extra'; readonly path: string; readonly ours: unknown }
  | { readonly kind: 'other value'; readonly path: string; readonly theirs: unknown; readonly ours: unknown };

/**
 * Compares two payloads leaf by leaf, in the order of the other side. Null, an empty list and an empty object equal a
 * missing member; a list of one value equals the value, because platforms accept both; text that contains JSON, as in
 * a form, is compared as JSON.
 */
export function compareMembers(theirs: unknown, ours: unknown, path = ''): readonly Difference[] {
  const [left, right] = alike(
    isEmpty(theirs) ? undefined : readText(theirs),
    isEmpty(ours) ? undefined : readText(ours),
  );
  if (isHolder(left) || isHolder(right)) {
    if (isOther(left, right)) return [{ kind: 'other value', path, theirs: left, ours: right }];
    const isList = Array.isArray(left ?? right);
    const names = [...new Set([...namesOf(left), ...namesOf(right)])];
    return names.flatMap((name) =>
      compareMembers(memberOf(left, name), memberOf(right, name), isList ? `${path}[${name}]` : join(path, name)),
    );
  }
  if (left === right) return [];
  if (right === undefined) return [{ kind: 'missing', path, theirs: left }];
  if (left === undefined) return [{ kind: 'extra', path, ours: right }];
  return [{ kind: 'other value', path, theirs: left, ours: right }];
}

/** The member of a payload at a path; undefined if the path does not exist. */
export function memberAt(value: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>((held, step) => memberOf(held, step), value);
}

/** The path without indexes: `data[0].id` and `data[1].id` are `data[].id`. */
export const generalPath = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]');

const stepsOf = (path: string): readonly string[] => path.split(/[.[\]]+/).filter((step) => step !== '');
const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The two sides; if one is a value and the other a list of one value, the list is replaced by its value. */
function alike(left: unknown, right: unknown): readonly [left: unknown, right: unknown] {
  if (left !== undefined && !isHolder(left)) return [left, onlyValue(right)];
  if (right !== undefined && !isHolder(right)) return [onlyValue(left), right];
  return [left, right];
}

function onlyValue(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 && !isHolder(value[0]) ? (value[0] as unknown) : value;
}

/** Whether both values exist and are neither two lists nor two objects. */
const isOther = (left: unknown, right: unknown): boolean =>
  left !== undefined &&
  right !== undefined &&
  (Array.isArray(left) !== Array.isArray(right) || isHolder(left) !== isHolder(right));

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return isHolder(value) && Object.values(value).every(isEmpty);
}

const namesOf = (value: unknown): readonly string[] => (isHolder(value) ? Object.keys(value) : []);

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[Number(name)] as unknown;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function readText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
