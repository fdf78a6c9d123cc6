import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { clickIdsProperty, mergeClickIds } from '../contracts/events/click-ids.ts';
import { textNestsDeeper } from '../runtime/json-depth.ts';

/** What a line of the log has of its visitor: text that stands before and behind the event, and how many bytes that is. */
export type VisitorLine = {
  readonly id: string;
  readonly before: string;
  readonly behind: string;
  readonly bytes: number;
  /** Of its JSON. */
  readonly characters: number;
};

/** A visitor's properties with their JSON text, which is made at most once. Never changes. */
export class VisitorProperties {
  static readonly none = new VisitorProperties({}, '{}');
  readonly value: JsonObject;
  #text: string | undefined;
  #bytes: number | undefined;
  #levels: number | undefined;
  #line: VisitorLine | undefined;

  /** `text` is the JSON of `value`, where it is known. */
  constructor(value: JsonObject, text?: string) {
    this.value = value;
    this.#text = text;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(this.value));
  }

  /** What the text weighs. */
  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.text));
  }

  /** Whether they nest deeper. */
  nestDeeperThan(levels: number): boolean {
    // What was found not to be too deep is not looked at again: nearly always the same is asked.
    if (this.#levels === levels) return false;
    if (textNestsDeeper(this.text, levels)) return true;
    this.#levels = levels;
    return false;
  }

  /** What lines of the log have of the visitor with these properties, made when it is asked for first. */
  lineOf(id: string, make: (id: string, properties: VisitorProperties) => VisitorLine): VisitorLine {
    if (this.#line?.id !== id) this.#line = make(id, this);
    return this.#line;
  }

  /** The properties after an event gave some; the same ones when nothing changes. */
  with(given: JsonObject): VisitorProperties {
    const next = applyProperties(this.value, given);
    return next === this.value ? this : new VisitorProperties(next);
  }

  /** Those of this visitor and of one written later that turned out to be the same. */
  mergedWith(later: VisitorProperties): VisitorProperties {
    return new VisitorProperties(mergeVisitorProperties(this.value, later.value));
  }
}

/**
 * Properties of a visitor after an event gave it some. At the top level a value sets, null clears, absent and `""` are
 * ignored; inside `custom_properties` and `consent` null, absent and `""` are all ignored, so they only merge. Of the ids of
 * clicks see `mergeClickIds`.
 * Returns `current` itself when nothing changes.
 */
export function applyProperties(current: JsonObject, given: JsonObject): JsonObject {
  let next: Record<string, unknown> | undefined;
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined || value === '') continue;
    const merged = mergedValue(name, current[name], value);
    if (merged === undefined) continue;
    if (merged === null) {
      if (!Object.hasOwn(next ?? current, name)) continue;
      next ??= { ...current };
      delete next[name];
    } else if (!isSame(current[name], merged) || !Object.hasOwn(current, name)) {
      next ??= { ...current };
      define(next, name, merged);
    }
  }
  return next ?? current;
}

/** Properties of one visitor that was two: those written later win, `custom_properties` and `consent` member by member. */
export function mergeVisitorProperties(earlier: JsonObject, later: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...earlier };
  for (const [name, value] of Object.entries(later)) {
    const before = earlier[name];
    const both = isJsonObject(before) && isJsonObject(value);
    if (both && name === clickIdsProperty) define(merged, name, mergeClickIds(before, value));
    else define(merged, name, both && mergeOnlyNames.has(name) ? { ...before, ...value } : value);
  }
  return merged;
}

/** What a property becomes; undefined where nothing of it changes. */
function mergedValue(name: string, current: unknown, given: unknown): unknown {
  if (isMergeOnly(name, given)) return mergeMembers(current, given);
  if (name !== clickIdsProperty || !isJsonObject(given)) return given;
  const ids = mergeClickIds(current, given);
  return ids === current || Object.keys(ids).length === 0 ? undefined : ids;
}

const mergeOnlyNames: ReadonlySet<string> = new Set(['custom_properties', 'consent']);

// A consent that is a plain text is a property like any other; custom_properties that are null merge nothing.
function isMergeOnly(name: string, value: unknown): boolean {
  return name === 'custom_properties' || (name === 'consent' && isJsonObject(value));
}

/** The members after a merge, or undefined when the given ones change nothing. */
function mergeMembers(current: unknown, given: unknown): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const before = isJsonObject(current) ? current : {};
  let next: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === '') continue;
    if (Object.hasOwn(before, name) && isSame(before[name], value)) continue;
    next ??= { ...before };
    define(next, name, value);
  }
  return next;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && isDeepStrictEqual(a, b));
}

// An assignment to `__proto__` would set the prototype; a definition makes an ordinary member.
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[name] = value;
  }
}
