import { copyMember, mergeMembers } from '../../../shared/json/exact-numbers.ts';
import { aliasEvent } from '../../../shared/contracts/events/envelope.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { messageTime, readTime, recordTime } from './message-time.ts';
import type { MessageTime } from './message-time.ts';
import { writePlainTrack } from './plain-track.ts';
import { addPage, pageOf, translateContext } from './spec-context.ts';
import { userPropertiesOf } from './spec-traits.ts';
import { idProblem, messagesIn, readEventId, readId } from './translation.ts';
import type { Arrival, Dialect, Translated, Translation } from './translation.ts';

/** The calls of the event specification, which Segment wrote and RudderStack adopted. */
export const specCalls = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
export type SpecCall = (typeof specCalls)[number];

/** Event names for calls that do not name an event. */
export const specEventNames = {
  page: 'Page Viewed',
  screen: 'Screen Viewed',
  group: '$group',
  alias: aliasEvent,
} as const;

/** The dialect of a request with one message; the path names the call. */
export function specCall(call: SpecCall): Dialect {
  return {
    keyOf: ({ writeKey }) => writeKey,
    messagesOf: (body) => [body],
    translate: (message, _body, arrival) => translate(message, call, {}, arrival),
  };
}

/** The dialect of a request with many messages; its other members are defaults for the messages. */
export const specBatch: Dialect = {
  keyOf: ({ writeKey }) => writeKey,
  messagesOf: ({ batch }) => messagesIn(batch),
  translate(message, body, arrival) {
    const { type } = message;
    const call = specCalls.find((name) => name === type);
    if (call === undefined) return { problem: `type must be one of ${specCalls.join(', ')}` };
    return translate(message, call, body, arrival);
  },
  writePlain: writePlainTrack,
};

/**
 * Translates a message of the event specification (segment.com/docs/connections/spec, rudderstack.com/docs/event-spec).
 * Its userId becomes our externalId, its anonymousId our userId, and its messageId the event's id, for deduplication.
 */
function translate(message: JsonObject, call: SpecCall, batch: JsonObject, arrival: Arrival): Translation {
  const externalId = readId(message, 'userId');
  const userId = readId(message, 'anonymousId');
  const problem = idProblem({ userId: externalId, anonymousId: userId });
  if (problem !== undefined) return { problem };
  const context = contextOf(message, batch);
  const surroundings = translateContext(context);
  const { defaultProperties, consent } = surroundings;
  const time = timeOf(message, batch, arrival);
  recordTime(defaultProperties, time);
  if (message['channel'] !== undefined && (defaultProperties['channel'] ?? undefined) === undefined)
    copyMember(defaultProperties, 'channel', message);
  const properties = objectOf(message['properties']);
  const person = personOf(message, context, call, consent);
  // One object shape for all events: spreading parts into it would cost more than the rest.
  const made = ({ event, eventProperties, userProperties, ids }: OwnFields): Translated => {
    const own = ids ?? { userId, externalId };
    const given = userProperties ?? person;
    return {
      kind: 'track',
      id: readEventId(message, 'messageId'),
      identity: { userId: own.userId, externalId: own.externalId, userProperties: given },
      body: {
        event,
        userId: own.userId,
        externalId: own.externalId,
        time: time.timeMs,
        eventProperties,
        userProperties: given,
        defaultProperties,
        identityContext: surroundings.identityContext,
        integrations: message['integrations'] ?? batch['integrations'] ?? undefined,
        consent: surroundings.ownConsent,
        userHash: surroundings.userHash,
      },
    };
  };
  switch (call) {
    case 'track': {
      const { event } = message;
      if (typeof event !== 'string' || event === '' || event.length > textCharactersMax.event) {
        return { problem: `event must be a string of 1 to ${textCharactersMax.event} characters` };
      }
      return made({ event, eventProperties: properties });
    }
    case 'page':
    case 'screen': {
      const { name, category } = message;
      if (call === 'page') addPage(pageOf(properties), defaultProperties);
      const eventProperties = mergeMembers(properties);
      if ((name ?? undefined) !== undefined) copyMember(eventProperties, 'name', message);
      if ((category ?? undefined) !== undefined) copyMember(eventProperties, 'category', message);
      return made({ event: specEventNames[call], eventProperties });
    }
    case 'identify':
      return { ...made({ userProperties: person ?? {} }), kind: 'identify' };
    case 'group':
      return group(message, made, person);
    case 'alias':
      return alias(message, externalId, made);
  }
}

/**
 * The time of a message. A message with `receivedAt` comes from an archive: its `timestamp` is already corrected, and
 * its sender's clock at that time does not matter now.
 */
function timeOf(message: JsonObject, batch: JsonObject, arrival: Arrival): MessageTime {
  const { timestamp, originalTimestamp, sentAt } = message;
  const isArchived = readTime(message['receivedAt']) !== undefined && readTime(timestamp) !== undefined;
  if (isArchived) return messageTime(timestamp, undefined, arrival);
  return messageTime(originalTimestamp ?? timestamp ?? batch['originalTimestamp'], sentAt ?? batch['sentAt'], arrival);
}

/** The fields that depend on the call. */
type OwnFields = {
  readonly event?: string;
  readonly eventProperties?: JsonObject;
  readonly userProperties?: JsonObject;
  /** Ids that replace the message's own. */
  readonly ids?: { readonly userId: string; readonly externalId: string };
};

/**
 * The visitor properties in a message: the traits of its context and its own traits, which win. RudderStack's libraries
 * put context traits into every event; Segment's users send them instead of an identify. The own traits of a group call
 * belong to the group. An alias call has no visitor properties. Undefined if there are none.
 */
function personOf(
  message: JsonObject,
  context: JsonObject,
  call: SpecCall,
  consent: JsonObject | undefined,
): JsonObject | undefined {
  const given = call === 'alias' ? noMembers : objectOf(context['traits']);
  const own = call === 'alias' || call === 'group' ? noMembers : objectOf(message['traits']);
  // The message's own traits come first: if a trait has two names, the first one counts.
  const properties = userPropertiesOf(mergeMembers(own, given, own));
  if (consent === undefined) return Object.keys(properties).length === 0 ? undefined : properties;
  return { consent, ...properties };
}

/** A visitor joined a group: the event gets the group's traits, the visitor the group's id. */
function group(message: JsonObject, made: (own: OwnFields) => Translated, person: JsonObject | undefined): Translation {
  const groupId = readId(message, 'groupId');
  if (groupId === undefined) return { problem: 'groupId is required' };
  return made({
    event: specEventNames.group,
    eventProperties: mergeMembers(objectOf(message['traits']), { group_id: groupId }),
    userProperties: {
      ...person,
      custom_properties: mergeMembers(objectOf(person?.['custom_properties']), { group_id: groupId }),
    },
  });
}

/**
 * Joins two ids of one visitor. The previous id may be an anonymousId or a userId, so the event has it as both, and the
 * visitors with either id are merged.
 */
function alias(message: JsonObject, id: string | undefined, made: (own: OwnFields) => Translated): Translation {
  const previousId = readId(message, 'previousId');
  if (id === undefined) return { problem: 'userId is required' };
  if (previousId === undefined) return { problem: 'previousId is required' };
  const problem = idProblem({ previousId });
  if (problem !== undefined) return { problem };
  return made({
    event: specEventNames.alias,
    ids: { userId: previousId, externalId: previousId },
    eventProperties: { previous_id: previousId, id },
    userProperties: { external_id: id },
  });
}

/** The batch's context; members of the message's own context win. */
function contextOf(message: JsonObject, batch: JsonObject): JsonObject {
  const own = objectOf(message['context']);
  return isJsonObject(batch['context']) ? mergeMembers(batch['context'], own) : own;
}

const noMembers: JsonObject = {};
const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : noMembers);
