import type { ByteWriter } from '../../json/byte-writer.ts';
import type { Work } from '../../routing/values/work.ts';
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

/** What a kind delivers: the event, and the payload a mapping made of it where one applies. */
export type OutboundEvent = {
  readonly resolved: ResolvedEvent;
  /** The head of `resolved`, where it is there already: `resolved` may have to be parsed first. */
  readonly head?: EventHead;
  /** `{"event": …, "visitor": …}` of `resolved` as it stands in the log, where it does: saves writing it again. */
  readonly json?: string | undefined;
  /** Writes the same, where it is bytes and need not become text. */
  readonly writeJson?: ((writer: ByteWriter) => void) | undefined;
  /** Name and properties after mapping; without one the event's own. */
  readonly mapped?:
    | {
        readonly eventName: string;
        readonly properties: JsonObject;
        /** Makes the properties again of the event with the texts of its numbers; see `parseExact`. */
        readonly remake?: ((subject: Pick<ResolvedEvent, 'event' | 'visitor'>) => JsonObject) | undefined;
      }
    | undefined;
  /** Its visitor has opted out by a signal: it may go with the platform's words for limited use only. */
  readonly isLimited?: boolean | undefined;
  /** What its visitor allows of the consent types in the kind's facts; undefined where no purpose has them. */
  readonly consentMode?: ConsentMode | undefined;
  /** What rules and templates may still cost of the event; undefined where that is not counted. */
  readonly work?: Work | undefined;
};

/** A destination's settings turned into functions, once a revision. */
export type PreparedDestination = {
  /** Events that may travel in one request, at most; 1 is one request an event. */
  readonly batchEventsMax: number;
  /**
   * Whether the platform has a use for the event at all; without it every event is sent. An event it has none for is skipped
   * and not counted, like an event of a source the destination is not for.
   */
  accepts?(event: OutboundEvent): boolean;
  /** Events of different groups do not travel in one request: for platforms that take them at different addresses. */
  groupOf?(event: OutboundEvent): string;
  /**
   * The platform may take an event of a request and ask for an earlier one of it to be sent again: then a request holds
   * one event of a visitor at most, where the destination keeps their order.
   */
  readonly retriesRows?: true;
  /** The platform's rate limit, where it is one of few requests: a request begins at least so many ms after the one before. */
  readonly requestEveryMs?: number;
  /**
   * Builds the request for up to `batchEventsMax` events of one group. Pure. `nowMs` is the time of the attempt, in ms
   * since the epoch, for signatures. Throws UnfitEventError where an event lacks what the platform demands.
   */
  buildRequest(events: readonly OutboundEvent[], nowMs: number): OutboundRequest;
  /**
   * Reads an answer where the platform reports a batch's rows one by one: one outcome an event, in order.
   * Undefined lets the sender classify by status alone.
   */
  readAnswer?(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined;
};

/** One destination kind: a folder, and one line in the registry. */
export type DestinationKind = {
  readonly descriptor: DestinationDescriptor;
  /** Settings that `prepare` accepts, with made-up values: for documents and for the contract test. */
  readonly exampleSettings: JsonObject;
  /** What the platform answers when it took one event, where an empty 200 would not say so: for tests. */
  readonly exampleSuccess?: Pick<OutboundAnswer, 'status' | 'body'>;
  /**
   * What the made-up event of a test must say for this platform to take it, such as the id of a click on one of its ads.
   */
  readonly exampleProperties?: JsonObject;
  readonly facts: KindFacts;
  /** The platform as it documents itself, to try the kind against. Loaded when it is asked for: deliveries need none. */
  readonly loadPlatform: () => Promise<Platform>;
  /** Where settings say that requests go, by the key of each that has a say in it: compared to see whether that changes. */
  addresses(settings: JsonObject): Readonly<Record<string, string>>;
  /** What the operator has to know of settings that can be used, such as that nothing is sent by them. Needs no secrets. */
  warnings(settings: JsonObject): readonly string[];
  /** Checks and reads the settings, and prepares. Throws SettingError naming the key. */
  prepare(settings: JsonObject): PreparedDestination;
  /** The same for deleting a person there. Undefined for a platform that no deletion of what it was sent is known of. */
  readonly prepareErasure?: (settings: JsonObject) => PreparedErasure;
};

/** A kind as its folder declares it. */
export type DestinationDefinition<Declarations extends SettingDeclarations> = Pick<
  DestinationKind,
  'exampleSuccess' | 'exampleProperties' | 'facts' | 'loadPlatform'
> & {
  /** As the specification spells it. */
  readonly id: string;
  readonly label: string;
  readonly settings: Declarations;
  /** Turns the settings as they were read into functions. Throws SettingError for what only several of them can say. */
  prepare(settings: SettingsOf<Declarations>): PreparedDestination;
  /** How the platform deletes a person. */
  readonly erase?: (settings: SettingsOf<Declarations>) => PreparedErasure;
};

/**
 * Makes a kind of its definition: descriptor, example and validation derive from the declared settings.
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
    // Made when it is asked for: an example may be a key that takes a moment to make.
    get exampleSettings() {
      return exampleOf(declarations);
    },
    ...(exampleSuccess === undefined ? {} : { exampleSuccess }),
    ...(exampleProperties === undefined ? {} : { exampleProperties }),
    facts,
    loadPlatform,
    addresses: (settings) => readAddresses(declarations, settings),
    warnings: (settings) => readWarnings(declarations, settings),
    prepare: (settings) => prepare(readSettings(declarations, settings)),
    ...(erase === undefined ? {} : { prepareErasure: (settings) => erase(readSettings(declarations, settings)) }),
  };
}

/** The event of a request that carries one. */
export function onlyEvent(events: readonly OutboundEvent[]): OutboundEvent {
  const [event] = events;
  if (event === undefined) throw new UnfitEventError('there is no event');
  return event;
}

/** An event that the platform cannot take as it is. The message holds no content of the event: it becomes its reason. */
export class UnfitEventError extends Error {
  readonly code = 'event_unfit';
}
