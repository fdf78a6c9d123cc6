import { decodeJson, isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { UnfitEventError } from './sdk/destination.ts';
import type { DestinationKind, OutboundRequest, PreparedDestination } from './sdk/destination.ts';
import { platformEvents } from './sdk/platform-events.ts';
import { contentOf, requestsInTurn } from './sdk/request-content.ts';
import { skipReason } from './sdk/skip-reason.ts';
import { createEventNames } from './sdk/standard-events.ts';
import type { NamedEvent, PlatformVocabulary } from './sdk/standard-events.ts';
import { resolvedSample, standardSamples } from './sdk/standard-samples.ts';
import type { StandardSample } from './sdk/standard-samples.ts';

/** The parts of a destination kind that decide what it sends. */
export type EventKind = Pick<DestinationKind, 'descriptor' | 'exampleProperties' | 'facts' | 'prepare'>;

/** A request in readable form. */
export type ShownRequest = {
  readonly method: OutboundRequest['method'];
  readonly url: string;
  /** The JSON, form or text of the body; for a GET, the query. Members with base64-encoded JSON are decoded. */
  readonly content: unknown;
};

/** What a destination sends for a call or a standard event that no mapping matches. */
export type EventOutcome = { readonly label: string } & (
  | {
      readonly outcome: 'sent';
      /**
       * The event name that the platform receives, as written in the request; undefined if the
       * request has no name field.
       */
      readonly name: string | undefined;
      /** In sending order: each request waits for the previous one. */
      readonly requests: readonly ShownRequest[];
    }
  | {
      /**
       * `skipped`: the platform has no use for the event. `refused`: the event lacks a field that
       * the platform requires.
       */
      readonly outcome: 'skipped' | 'refused';
      readonly reason: string;
    }
);

/**
 * What a destination with these settings sends for every call and standard event, for a visitor with all fields filled.
 * The requests contain the settings' secrets where the platform expects them, so pass made-up ones. Throws
 * SettingError.
 */
export function eventOutcomes(kind: EventKind, settings: JsonObject): readonly EventOutcome[] {
  const prepared = kind.prepare(settings);
  return standardSamples.map((sample) => eventOutcome(kind, prepared, sample));
}

/** What a prepared destination sends for one sample. `properties` are added to the properties of the sample. */
export function eventOutcome(
  kind: EventKind,
  prepared: PreparedDestination,
  sample: StandardSample,
  properties: JsonObject = {},
): EventOutcome {
  const { label } = sample;
  const resolved = resolvedSample(kind, { ...sample, properties: { ...sample.properties, ...properties } });
  const event = { resolved };
  if (prepared.accepts?.(event) === false) return { label, outcome: 'skipped', reason: skipReason(kind.facts, event) };
  try {
    const requests = requestsInTurn(prepared.buildRequest([event], resolved.event.time)).map((request) => ({
      method: request.method,
      url: request.url,
      content: readable(contentOf(request)),
    }));
    return {
      label,
      outcome: 'sent',
      name: sentName(kind, { name: sample.event, isRenamed: false }, contentsOf(requests)),
      requests,
    };
  } catch (error) {
    if (error instanceof UnfitEventError) return { label, outcome: 'refused', reason: error.message };
    throw error;
  }
}

function readable(content: unknown): unknown {
  if (Array.isArray(content)) return content.map(readable);
  if (isJsonObject(content))
    return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, readable(value)]));
  // In base64, a JSON object with members begins with `ey`.
  if (typeof content !== 'string' || !content.startsWith('ey') || !/^[A-Za-z0-9+/]+={0,2}$/.test(content))
    return content;
  const decoded = decodeJson(Buffer.from(content, 'base64'));
  return isJsonObject(decoded) ? decoded : content;
}

const vocabularies: Readonly<Record<string, PlatformVocabulary | undefined>> = platformEvents;

/**
 * The event name in the requests, as the member that contains it spells it: the platform's own name for the event, or
 * else the event's name. Undefined if no member contains either.
 */
export function sentName(
  kind: Pick<EventKind, 'descriptor'>,
  { name, isRenamed }: NamedEvent,
  contents: readonly unknown[],
): string | undefined {
  const vocabulary = vocabularies[kind.descriptor.id];
  const own = vocabulary === undefined ? undefined : createEventNames(vocabulary)({ name, isRenamed });
  const leaves = contents.flatMap((content) => [...leavesOf(content)].map(([, leaf]) => leaf));
  for (const wanted of own === undefined ? [name] : [own, name]) {
    const exact = leaves.find((leaf) => leaf === wanted);
    const found = exact ?? leaves.find((leaf) => typeof leaf === 'string' && plain(leaf) === plain(wanted));
    if (found !== undefined) return String(found);
  }
  return undefined;
}

const contentsOf = (requests: readonly ShownRequest[]): readonly unknown[] => requests.map(({ content }) => content);

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The texts and numbers in a payload, each with its path without array indexes: `data[].id`. */
export function* leavesOf(value: unknown, path = ''): Generator<readonly [path: string, leaf: string | number]> {
  if (Array.isArray(value)) for (const each of value) yield* leavesOf(each, `${path}[]`);
  else if (isJsonObject(value)) {
    for (const [name, each] of Object.entries(value)) yield* leavesOf(each, path === '' ? name : `${path}.${name}`);
  } else if (typeof value === 'string' || typeof value === 'number') yield [path, value];
}
