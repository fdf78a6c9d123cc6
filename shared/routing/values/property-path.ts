import { integrationsKey } from '../../contracts/events/resolved-event.ts';
import { numberText } from '../../json/exact-numbers.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { PlanError } from './plan-error.ts';
import { pathCharactersMax, pathSegmentsMax } from './rule-limits.ts';
import type { Work } from './work.ts';

/** What rules and templates read: the event, and the visitor after the event. */
export type Subject = Pick<ResolvedEvent, 'event' | 'visitor'> & {
  /** The budget for reading; undefined if work is not counted, as in a trial that a user requests. */
  readonly work?: Work | undefined;
};

export type ReadProperty = {
  (subject: Subject): unknown;
  /** The digits of the number at the path, if a double cannot represent them and they were kept. */
  readonly numberText?: (subject: Subject) => string | undefined;
};

/**
 * Turns a path into a function that reads it. A path is dotted and starts at `event` or `visitor`; a `$` before it is
 * allowed and ignored:
 *
 * - `event.event` is the event's name, `event.id`, `event.time` and `event.source_id` are its other fields;
 * - `event.event_properties.plan` is one of its properties, `event.event_properties.items.0.price` goes into lists;
 * - `event.context.current_url` is its context, also reached as `event.default_properties` and `event.request_context`;
 * - `event.integrations.GA4` is whether the sender allows a destination, `event.integrations.GA4.clientId` an option;
 * - `visitor.email`, `visitor.consent.marketing`, `visitor.custom_properties.tier` are the visitor's.
 *
 * A property whose own name contains dots is found too, if no shorter name leads to a value: `{"a.b": 1}` at `….a.b`. A
 * path that leads nowhere is undefined. Inherited properties are never read. Throws PlanError if the text cannot be a
 * path.
 */
export function compilePropertyPath(path: string, field: string): ReadProperty {
  const bare = path.trim().replace(/^\$/, '');
  if (bare === '') throw new PlanError(field, 'must be a path, such as event.event');
  if (bare.length > pathCharactersMax) throw new PlanError(field, `must be at most ${pathCharactersMax} characters`);
  if (bare.includes('{{')) throw new PlanError(field, 'takes a bare path, such as event.event, without {{ }}');
  const [root, ...rest] = bare.split('.');
  if (rest.length >= pathSegmentsMax) throw new PlanError(field, `must have at most ${pathSegmentsMax} segments`);
  if (root !== 'event' && root !== 'visitor') return () => undefined;
  return readSteps(root, root === 'event' ? withoutAlias(rest) : rest);
}

/** Clients' names for the event's context. */
const contextAliases: ReadonlySet<string> = new Set(['default_properties', 'request_context']);

function withoutAlias(segments: readonly string[]): readonly string[] {
  const [first, ...rest] = segments;
  // A name alone is the yes or no for that destination; a longer path leads to an option.
  if (first === integrationsKey && rest.length > 1) return ['context', ...segments];
  return first !== undefined && contextAliases.has(first) ? ['context', ...rest] : segments;
}

function readSteps(root: 'event' | 'visitor', segments: readonly string[]): ReadProperty {
  const steps = segments.map((name, index) => ({ name, remainder: segments.slice(index).join('.') }));
  const read = (subject: Subject): unknown => {
    let value: unknown = subject[root];
    for (const { name, remainder } of steps) {
      if (typeof value !== 'object' || value === null) return undefined;
      const next = ownValue(value, name);
      if (next === undefined && remainder !== name) {
        const dotted = ownValue(value, remainder);
        if (dotted !== undefined) return dotted;
      }
      value = next;
    }
    return value;
  };
  const text = (subject: Subject): string | undefined => {
    let value: unknown = subject[root];
    for (const { name, remainder } of steps) {
      if (typeof value !== 'object' || value === null) return undefined;
      const found = numberText(value, remainder);
      if (found !== undefined) return found;
      value = ownValue(value, name);
    }
    return undefined;
  };
  return Object.assign(read, { numberText: text });
}

function ownValue(holder: object, name: string): unknown {
  // A list has a `length`, which is not a property of the event.
  if (Array.isArray(holder) && !/^\d+$/.test(name)) return undefined;
  return Object.hasOwn(holder, name) ? (holder as Readonly<Record<string, unknown>>)[name] : undefined;
}
