import type { JsonObject } from '../runtime/json.ts';
import { textNestsDeeper } from '../runtime/json-depth.ts';
import { applyTimed } from './apply-properties.ts';
import type { TimedProperties } from './apply-properties.ts';
import { joinTimed } from './join-properties.ts';
import { decodeTimes, encodeTimes, noTimes } from './property-times.ts';
import type { PropertyTimes } from './property-times.ts';

/** The visitor's part of a line of the log: the texts before and after the event, and their size. */
export type VisitorLine = {
  readonly id: string;
  readonly before: string;
  readonly behind: string;
  readonly bytes: number;
  /** Length of the visitor's JSON. */
  readonly characters: number;
};

/** A visitor's properties with the time of each, and with their JSON text, which is written at most once. Immutable. */
export class VisitorProperties implements TimedProperties {
  static readonly none = new VisitorProperties({}, '{}');
  readonly value: JsonObject;
  #text: string | undefined;
  #bytes: number | undefined;
  #levels: number | undefined;
  #line: VisitorLine | undefined;
  #times: PropertyTimes | undefined;
  #timesText: string | undefined | null;

  /** `text`: the JSON of `value`, if it is known. `times` as text: in stored form, see `encodeTimes`. */
  constructor(value: JsonObject, text?: string, times?: string | PropertyTimes) {
    this.value = value;
    this.#text = text;
    this.#times = typeof times === 'string' ? undefined : (times ?? noTimes);
    // Undefined: not encoded yet.
    this.#timesText = typeof times === 'string' ? times : undefined;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(this.value));
  }

  /** Size of the text. */
  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.text));
  }

  /** Decoded when first needed: an event that changes nothing does not need them. */
  get times(): PropertyTimes {
    return (this.#times ??= decodeTimes(this.#timesText ?? undefined, this.value));
  }

  /** The times in stored form; null if there are none. Destinations do not receive them. */
  get timesText(): string | null {
    if (this.#timesText === undefined) this.#timesText = encodeTimes(this.times, this.value) ?? null;
    return this.#timesText;
  }

  /** Whether the properties nest deeper than so many levels. */
  nestDeeperThan(levels: number): boolean {
    // The last checked depth is not checked again: callers nearly always request the same depth.
    if (this.#levels === levels) return false;
    if (textNestsDeeper(this.text, levels)) return true;
    this.#levels = levels;
    return false;
  }

  /** The visitor's part of a line with these properties, built at the first request. */
  lineOf(id: string, make: (id: string, properties: VisitorProperties) => VisitorLine): VisitorLine {
    if (this.#line?.id !== id) this.#line = make(id, this);
    return this.#line;
  }

  /**
   * The properties after a write at a time, in ms since the epoch; the same object if nothing changes. Names in
   * `forced` are set whatever their times.
   */
  with(given: JsonObject, atMs = 0, forced?: ReadonlySet<string>): VisitorProperties {
    return become(this, applyTimed(this, given, forced === undefined ? { atMs } : { atMs, forced }));
  }

  /**
   * The properties of this visitor merged with another's: the last write of each property wins; at equal times the
   * other visitor's value wins.
   */
  mergedWith(other: VisitorProperties): VisitorProperties {
    return become(this, joinTimed(this, other));
  }
}

const become = (current: VisitorProperties, next: TimedProperties): VisitorProperties =>
  next === current ? current : new VisitorProperties(next.value, undefined, next.times);
