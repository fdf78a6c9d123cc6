import type { JsonObject } from '../runtime/json.ts';
import { textNestsDeeper } from '../runtime/json-depth.ts';
import { applyTimed } from './apply-properties.ts';
import type { TimedProperties } from './apply-properties.ts';
import { joinTimed } from './join-properties.ts';
import { decodeTimes, encodeTimes, noTimes } from './property-times.ts';
import type { PropertyTimes } from './property-times.ts';

/** What a line of the log has of its visitor: text that stands before and behind the event, and how many bytes that is. */
export type VisitorLine = {
  readonly id: string;
  readonly before: string;
  readonly behind: string;
  readonly bytes: number;
  /** Of its JSON. */
  readonly characters: number;
};

/** A visitor's properties with their JSON text, which is made at most once, and when each was given. Never changes. */
export class VisitorProperties implements TimedProperties {
  static readonly none = new VisitorProperties({}, '{}');
  readonly value: JsonObject;
  #text: string | undefined;
  #bytes: number | undefined;
  #levels: number | undefined;
  #line: VisitorLine | undefined;
  #times: PropertyTimes | undefined;
  #timesText: string | undefined | null;

  /** `text` is the JSON of `value`, where it is known; `times` as they are stored, see `encodeTimes`. */
  constructor(value: JsonObject, text?: string, times?: string | PropertyTimes) {
    this.value = value;
    this.#text = text;
    this.#times = typeof times === 'string' ? undefined : (times ?? noTimes);
    // Undefined: yet to be made.
    this.#timesText = typeof times === 'string' ? times : undefined;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(this.value));
  }

  /** What the text weighs. */
  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.text));
  }

  /** Read when they are first needed: an event that brings nothing new needs none. */
  get times(): PropertyTimes {
    return (this.#times ??= decodeTimes(this.#timesText ?? undefined, this.value));
  }

  /** The times as they are stored; they do not travel. */
  get timesText(): string | null {
    if (this.#timesText === undefined) this.#timesText = encodeTimes(this.times, this.value) ?? null;
    return this.#timesText;
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

  /**
   * The properties after an event gave some at a time, in ms since the epoch; the same ones when nothing changes. Names in
   * `forced` are set whatever was given when.
   */
  with(given: JsonObject, atMs = 0, forced?: ReadonlySet<string>): VisitorProperties {
    return become(this, applyTimed(this, given, forced === undefined ? { atMs } : { atMs, forced }));
  }

  /** Those of this visitor and of one that turned out to be the same: of each the last write, of two at one time the other's. */
  mergedWith(other: VisitorProperties): VisitorProperties {
    return become(this, joinTimed(this, other));
  }
}

const become = (current: VisitorProperties, next: TimedProperties): VisitorProperties =>
  next === current ? current : new VisitorProperties(next.value, undefined, next.times);
