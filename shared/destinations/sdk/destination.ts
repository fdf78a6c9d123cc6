import type { ByteWriter } from '../../json/byte-writer.ts';
import type { Work } from '../../routing/values/work.ts';
import { FrameError } from '../../contracts/events/frame.ts';
import type { ConsentMode } from '../../contracts/events/consent-words.ts';
import type { EventHead } from '../../contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { PreparedErasure } from './erasure.ts';
import type { KindFacts } from './facts.ts';
import type { Platform } from './platform.ts';
import { describeSettings, exampleOf, readAddresses, readSettings, readWarnings } from './settings.ts';
import type { SettingDeclarations, SettingDescriptor, SettingsOf } from './settings.ts';

export type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
export type { Outcome } from '../../egress/outcome.ts';

/** Entity of `GET /rest/v1/destinations/types`. */
export type DestinationDescriptor = {
  readonly id: string;
  readonly label: string;
  readonly status: 'ga' | 'deprecated';
  readonly capabilities: {
    readonly oauth: boolean;
    readonly listsAccounts: boolean;
    readonly supportsRenamedEvents: boolean;
  };
  readonly settings: readonly SettingDescriptor[];
};

/** A delivery: the event, and its mapped payload if a mapping matches. */
export type OutboundEvent = {
  readonly resolved: ResolvedEvent;
  /** The head of `resolved`, if it is already parsed, so that reading it need not parse `resolved`. */
  readonly head?: EventHead;
  /**
   * `{"event": …, "visitor": …}` as stored in the log, if available, so that `resolved` need not be serialized again.
   */
  readonly json?: string | undefined;
  /**
   * What was done to the properties in `resolved` and `mapped` since they were read or mapped. `json` and `remake` do
   * not include it.
   */
  readonly change?: ((properties: JsonObject) => JsonObject) | undefined;
  /** Writes the value of `json` as bytes, without creating a string. */
  readonly writeJson?: ((writer: ByteWriter) => void) | undefined;
  /** Name and properties after mapping; undefined if no mapping matches. */
  readonly mapped?:
    | {
        readonly eventName: string;
        readonly properties: JsonObject;
        /** Rebuilds the event's properties with numbers as text; see `parseExact`. */
        readonly remake?: ((subject: Pick<ResolvedEvent, 'event' | 'visitor'>) => JsonObject) | undefined;
      }
    | undefined;
  /** The visitor opted out by a signal, so the event is sent only with the platform's limited-use fields. */
  readonly isLimited?: boolean | undefined;
  /**
   * The visitor's grants for the consent types in the kind's facts; undefined if no purpose maps
   * to them.
   */
  readonly consentMode?: ConsentMode | undefined;
  /**
   * The remaining cost budget of the event for rules and templates; undefined if it is not
   * limited.
   */
  readonly work?: Work | undefined;
};

/** A destination's settings as functions, prepared once per revision of the settings. */
export type PreparedDestination = {
  /** Maximum events per request. */
  readonly batchEventsMax: number;
  /**
   * Whether the platform has a use for the event; without this function every event is sent. Other
   * events are skipped and not counted, like events from a source that the destination excludes.
   */
  accepts?(event: OutboundEvent): boolean;
  /**
   * Names the group of an event. Events of different groups travel in separate requests, for platforms
   * with several addresses.
   */
  groupOf?(event: OutboundEvent): string;
  /**
   * The platform may accept an event and ask for an earlier event of the same request to be sent again. A request then
   * holds at most one event per visitor, if the destination keeps order.
   */
  readonly retriesRows?: true;
  /** Minimum ms between the starts of two requests, for platforms with a low rate limit. */
  readonly requestEveryMs?: number;
  /**
   * Builds the request for up to `batchEventsMax` events of one group. Pure. `nowMs` is the time of
   * the attempt in ms since the epoch, for signatures. Throws UnfitEventError if an event lacks
   * a field that the platform requires.
   */
  buildRequest(events: readonly OutboundEvent[], nowMs: number): OutboundRequest;
  /**
   * Reads the response of a platform that reports rows individually: one outcome per event, in order.
   * Undefined means that the status alone decides. Callers use `readAnswer` of answers.ts.
   */
  readAnswer?(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined;
};

/** A destination kind, which has its own folder and one line in the registry. */
export type DestinationKind = {
  readonly descriptor: DestinationDescriptor;
  /**
   * Settings with made-up values that `prepare` accepts, for documentation and the contract test.
   */
  readonly exampleSettings: JsonObject;
  /**
   * The response with which the platform accepts one event, if an empty 200 does not suffice. For tests.
   */
  readonly exampleSuccess?: Pick<OutboundAnswer, 'status' | 'body'>;
  /** Properties that a test event needs for this platform to accept it, such as a click id. */
  readonly exampleProperties?: JsonObject;
  readonly facts: KindFacts;
  /**
   * A scripted version of the platform, written from its documentation, for tests. Loaded on
   * demand: deliveries do not need it.
   */
  readonly loadPlatform: () => Promise<Platform>;
  /** The request targets, by key of the setting that determines each; compared to detect a changed target. */
  addresses(settings: JsonObject): Readonly<Record<string, string>>;
  /** Warnings about valid settings, such as settings that send nothing. Needs no secrets. */
  warnings(settings: JsonObject): readonly string[];
  /** Validates the settings and prepares the destination. Throws SettingError naming the key. */
  prepare(settings: JsonObject): PreparedDestination;
  /**
   * Reads the settings and prepares deletions of persons. Undefined if no deletion interface of the
   * platform is known.
   */
  readonly prepareErasure?: (settings: JsonObject) => PreparedErasure;
};

/** A kind as declared in its folder. */
export type DestinationDefinition<Declarations extends SettingDeclarations> = Pick<
  DestinationKind,
  'exampleSuccess' | 'exampleProperties' | 'facts' | 'loadPlatform'
> & {
  /** As spelled in the specification. */
  readonly id: string;
  readonly label: string;
  readonly settings: Declarations;
  /**
   * Prepares functions from the parsed settings. Throws SettingError for conflicts between
   * settings.
   */
  prepare(settings: SettingsOf<Declarations>): PreparedDestination;
  /** How the platform deletes a person. */
  readonly erase?: (settings: SettingsOf<Declarations>) => PreparedErasure;
};

/**
 * Creates a kind from its definition: descriptor, example and validation derive from the declared settings.
 *
 * ```ts
 * export const examplePlatform = defineDestination({
 *   id: 'ExamplePlatform',
 *   label: 'Example platform',
 *   settings: { apiKey: token({ label: 'API key', example: 'an-example-key' }) },
 *   facts: { sends: 'Every event', limits: { events: 1 }, … },
 *   loadPlatform: async () => (await import('./platform.ts')).examplePlatformScripted,
 *   prepare: ({ apiKey }) => ({ batchEventsMax: 1, buildRequest: (events) => postJson({ … }) }),
 * });
 * ```
 */
export function defineDestination<Declarations extends SettingDeclarations>(
  definition: DestinationDefinition<Declarations>,
): DestinationKind {
  const {
    id,
    label,
    settings: declarations,
    exampleSuccess,
    exampleProperties,
    facts,
    loadPlatform,
    prepare,
    erase,
  } = definition;
  return {
    descriptor: {
      id,
      label,
      status: 'ga',
      capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
      settings: describeSettings(declarations),
    },
    // Computed on demand, because an example may be a key that is slow to generate.
    get exampleSettings() {
      return exampleOf(declarations);
    },
    ...(exampleSuccess === undefined ? {} : { exampleSuccess }),
    ...(exampleProperties === undefined ? {} : { exampleProperties }),
    facts,
    loadPlatform,
    addresses: (settings) => readAddresses(declarations, settings),
    warnings: (settings) => readWarnings(declarations, settings),
    prepare: (settings) => guarded(prepare(readSettings(declarations, settings))),
    ...(erase === undefined ? {} : { prepareErasure: (settings) => erase(readSettings(declarations, settings)) }),
  };
}

/**
 * If `accepts` or `groupOf` throws for an event, the event is sent in a group of its own: `buildRequest` then gives the
 * reason for this event alone. The error itself would end the dispatcher, which would meet the event again.
 */
function guarded(prepared: PreparedDestination): PreparedDestination {
  const { accepts, groupOf } = prepared;
  return {
    ...prepared,
    ...(accepts && { accepts: (event) => unlessItThrows(() => accepts.call(prepared, event)) ?? true }),
    ...(groupOf && {
      groupOf: (event) =>
        unlessItThrows(() => groupOf.call(prepared, event)) ?? `unread ${event.head?.id ?? event.resolved.event.id}`,
    }),
  };
}

/** The value; undefined if reading it throws. Throws FrameError for a line that cannot be read. */
function unlessItThrows<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameError) throw error;
    return undefined;
  }
}

/** The only event of a one-event request. */
export function onlyEvent(events: readonly OutboundEvent[]): OutboundEvent {
  const [event] = events;
  if (event === undefined) throw new UnfitEventError('the request has no event');
  return event;
}

/**
 * The event lacks or exceeds what the platform accepts. The message becomes the recorded reason and
 * must not contain event content.
 */
export class UnfitEventError extends Error {
  readonly code = 'event_unfit';
}
