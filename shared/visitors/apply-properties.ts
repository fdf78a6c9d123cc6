import { isDeepStrictEqual } from 'node:util';
import { clickIdsProperty, mergeClickIds } from '../contracts/events/click-ids.ts';
import { purposeOf } from '../contracts/events/consent-words.ts';
import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { isDenial } from './consent-denials.ts';
import { boundedTimes, isContainer, memberKey, timeKey } from './property-times.ts';
import type { Container, PropertyTimes } from './property-times.ts';

/** Properties and the time of each. */
export type TimedProperties = { readonly value: JsonObject; readonly times: PropertyTimes };

export type ApplyOptions = {
  /** Time of the properties, in ms since the epoch. 0: unknown, and older than any time. */
  readonly atMs: number;
  /** Names that are set whatever their times are. */
  readonly forced?: ReadonlySet<string>;
  /** Whether a repeated value gets the newer time. By default a newer time alone does not write a visitor. */
  readonly keepsNewest?: boolean;
};

/**
 * Properties of a visitor after an event set some of them. The last write of each property wins, by the times of the
 * writes; at equal times the write that is applied later wins. At the top level a value sets a property, null clears
 * it, absent and `""` are ignored; inside `custom_properties` and `consent`, null, absent and `""` are all ignored, and
 * each member has a time. A purpose in `consent` is one member, in whatever spelling. For click ids see
 * `mergeClickIds`. Returns `current` itself when nothing changes.
 */
export function applyTimed(current: TimedProperties, given: JsonObject, options: ApplyOptions): TimedProperties {
  const applying = new Applying(current, options);
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined || value === '') continue;
    if (name === clickIdsProperty && isJsonObject(value)) applying.addClicks(value);
    else if (name === 'consent' && isJsonObject(value)) applying.addConsent(value);
    else if (isContainer(name) && isJsonObject(value)) applying.addMembers(name, value);
    else if (name === 'consent') applying.replaceConsent(value);
    else if (name !== 'custom_properties') applying.set(name, value);
  }
  return applying.result();
}

const repeatedDenialMs = 3_600_000;

/** Applies writes. Copies the properties, and their times, before the first change of each. */
class Applying {
  readonly #current: TimedProperties;
  readonly #options: ApplyOptions;
  #value: Record<string, unknown> | undefined;
  #times: Map<string, number> | undefined;

  constructor(current: TimedProperties, options: ApplyOptions) {
    this.#current = current;
    this.#options = options;
  }

  result(): TimedProperties {
    if (this.#value === undefined && this.#times === undefined) return this.#current;
    const value = this.#value ?? this.#current.value;
    return { value, times: boundedTimes(this.#times ?? this.#current.times, value) };
  }

  addClicks(given: JsonObject): void {
    const before = this.#now()[clickIdsProperty];
    const ids = mergeClickIds(before, given);
    if (ids !== before && Object.keys(ids).length > 0) this.#put(clickIdsProperty, ids);
  }

  /** A property as a whole; null clears it. */
  set(name: string, value: unknown): void {
    const key = timeKey(name);
    const isThere = Object.hasOwn(this.#now(), name);
    const isSame = value === null ? !isThere : isThere && isSameValue(this.#now()[name], value);
    if (isSame) {
      // The first clear gets a time, so that it wins over older values that arrive later. A repeated value or clear is
      // not a write.
      if (this.#options.keepsNewest === true || (value === null && this.#timeOf(key) === 0)) this.#timeAs(key);
      return;
    }
    if (this.#isOlder(key) && this.#options.forced?.has(name) !== true) return;
    if (value === null) this.#remove(name);
    else this.#put(name, value);
    this.#setTime(key);
  }

  addMembers(container: Container, given: JsonObject): void {
    const current = this.#now()[container];
    const before = isJsonObject(current) ? current : {};
    let next: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || value === null || value === '') continue;
      const key = memberKey(container, name);
      if (Object.hasOwn(before, name) && isSameValue(before[name], value)) {
        if (this.#options.keepsNewest === true || this.#isRepeatedDenial(container, key, value)) this.#timeAs(key);
        continue;
      }
      if (this.#isOlder(key) || this.#isOlder(timeKey(container))) continue;
      next ??= { ...before };
      define(next, name, value);
      this.#setTime(key);
    }
    if (next !== undefined) this.#put(container, next);
  }

  addConsent(given: JsonObject): void {
    const current = this.#now()['consent'];
    if (isJsonObject(current)) this.#removeTwins(current);
    this.addMembers('consent', spelledAs(this.#now()['consent'], given));
  }

  /**
   * Earlier builds stored a purpose once for each spelling, and any denial ruled. The newest one stays; at equal times a
   * denial.
   */
  #removeTwins(consent: JsonObject): void {
    const kept = new Map<string, string>();
    const timeOf = (name: string): number => this.#timeOf(memberKey('consent', name));
    const isNewer = (name: string, other: string): boolean =>
      timeOf(name) === timeOf(other) ? isDenial(consent[name]) : timeOf(name) > timeOf(other);
    const names = Object.keys(consent);
    for (const name of names) {
      const other = kept.get(purposeOf(name));
      if (other === undefined || isNewer(name, other)) kept.set(purposeOf(name), name);
    }
    if (kept.size === names.length) return;
    const next: Record<string, unknown> = { ...consent };
    for (const name of names) {
      if (kept.get(purposeOf(name)) === name) continue;
      delete next[name];
      this.#forget(memberKey('consent', name));
    }
    this.#put('consent', next);
  }

  /** Replaces the consent's older members by a value that is not an object, or clears them. */
  replaceConsent(value: unknown): void {
    const current = this.#now()['consent'];
    if (!isJsonObject(current)) {
      this.set('consent', value);
      return;
    }
    const { atMs } = this.#options;
    if (this.#isOlder(timeKey('consent'))) return;
    const entries = Object.entries(current);
    const newer = entries.filter(([name]) => this.#timeOf(memberKey('consent', name)) > atMs);
    if (newer.length < entries.length) {
      for (const [name] of entries)
        if (!newer.some(([kept]) => kept === name)) this.#forget(memberKey('consent', name));
      if (newer.length > 0) this.#put('consent', Object.fromEntries(newer));
      else if (value === null) this.#remove('consent');
      else this.#put('consent', value);
    }
    this.#timeAs(timeKey('consent'));
  }

  #now(): JsonObject {
    return this.#value ?? this.#current.value;
  }

  #timeOf(key: string): number {
    return (this.#times ?? this.#current.times).get(key) ?? 0;
  }

  #isOlder(key: string): boolean {
    return this.#options.atMs < this.#timeOf(key);
  }

  #timeAs(key: string): void {
    if (this.#options.atMs > this.#timeOf(key)) this.#setTime(key);
  }

  #setTime(key: string): void {
    const { atMs } = this.#options;
    if (atMs === this.#timeOf(key)) return;
    this.#times ??= new Map(this.#current.times);
    if (atMs === 0) this.#times.delete(key);
    else this.#times.set(key, atMs);
  }

  /**
   * A repeated denial is written with its newer time, because a grant that is older but arrives later must not undo it.
   * A page may repeat the denial with each event, so it is written at most once an hour.
   */
  #isRepeatedDenial(container: Container, key: string, value: unknown): boolean {
    return container === 'consent' && isDenial(value) && this.#options.atMs - this.#timeOf(key) >= repeatedDenialMs;
  }

  #forget(key: string): void {
    if (this.#timeOf(key) === 0) return;
    this.#times ??= new Map(this.#current.times);
    this.#times.delete(key);
  }

  #put(name: string, value: unknown): void {
    this.#value ??= { ...this.#current.value };
    define(this.#value, name, value);
  }

  #remove(name: string): void {
    this.#value ??= { ...this.#current.value };
    delete this.#value[name];
  }
}

/** A given consent with the names of the stored one. If it has a purpose in two spellings, a denial wins. */
function spelledAs(stored: unknown, given: JsonObject): JsonObject {
  const names = new Map(isJsonObject(stored) ? Object.keys(stored).map((name) => [purposeOf(name), name]) : []);
  const members = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === '') continue;
    const purpose = purposeOf(name);
    const own = names.get(purpose) ?? name;
    names.set(purpose, own);
    if (!isDenial(members[own])) members[own] = value;
  }
  return members;
}

const isSameValue = (a: unknown, b: unknown): boolean => a === b || (typeof a === 'object' && isDeepStrictEqual(a, b));

// Assigning `__proto__` would set the prototype; a definition makes an ordinary member.
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[name] = value;
  }
}
