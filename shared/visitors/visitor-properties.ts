import type { JsonObject } from '../runtime/json.ts';
import { applyProperties, mergeVisitorProperties } from './merge.ts';

/** A visitor's properties with their JSON text, which is made at most once. Never changes. */
export class VisitorProperties {
  static readonly none = new VisitorProperties({}, '{}');
  readonly value: JsonObject;
  #text: string | undefined;

  /** `text` is the JSON of `value`, where it is known. */
  constructor(value: JsonObject, text?: string) {
    this.value = value;
    this.#text = text;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(this.value));
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
