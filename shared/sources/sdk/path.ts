import { numberText } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';

/**
 * A path to a value in a provider's body, such as `payload.email`, `attendees[0].email`, or
 * `answers[type=email].email`, which follows the first list element whose `type` is `email`.
 */
export type Path = readonly Step[];

type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'where'; readonly key: string; readonly value: string };

const step = /^([^.[\]]+)|^\[(\d+)\]|^\[([^=\]]+)=([^\]]*)\]/;

/** Parses a path; throws a TypeError for an invalid one. Called once per path, when its kind is declared. */
export function compilePath(text: string): Path {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const found = step.exec(rest);
    if (found === null) throw new TypeError(`reading the path ${text}: ${rest} is not a step of a path`);
    const [whole, key, index, whereKey, value] = found;
    if (key !== undefined) steps.push({ kind: 'key', key });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else steps.push({ kind: 'where', key: whereKey ?? '', value: value ?? '' });
    rest = rest.slice(whole.length);
    if (rest.startsWith('.')) rest = rest.slice(1);
  }
  return steps;
}

/** The value at a path; undefined if the body has none. */
export function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const next of path) {
    value = follow(value, next);
    if (value === undefined) return undefined;
  }
  return value;
}

function follow(value: unknown, next: Step): unknown {
  switch (next.kind) {
    case 'key':
      return isJsonObject(value) && Object.hasOwn(value, next.key) ? value[next.key] : undefined;
    case 'index':
      return Array.isArray(value) ? (value as readonly unknown[])[next.index] : undefined;
    case 'where':
      return Array.isArray(value)
        ? (value as readonly unknown[]).find((one) => isJsonObject(one) && one[next.key] === next.value)
        : undefined;
  }
}

/** A value as trimmed text; undefined for an empty value, or one that is neither text nor number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  return value.trim() || undefined;
}

/** The text at a path, see `textOf`; a number has its digits as sent. */
export function textAt(body: unknown, path: Path): string | undefined {
  const value = valueAt(body, path);
  const text = textOf(value);
  if (text === undefined || typeof value !== 'number') return text;
  const holder = valueAt(body, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof holder !== 'object' || holder === null || last === undefined) return text;
  return numberText(holder, last.kind === 'index' ? String(last.index) : last.key) ?? text;
}

/** The text of a label (a title, a question or a name); empty for a value that is neither text nor number. */
export const labelOf = (value: unknown): string => textOf(value) ?? '';
