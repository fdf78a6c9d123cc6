import { copyMember } from '../../../shared/json/exact-numbers.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { accepted } from '../../http/reply.ts';
import type { PostRoute, Route } from '../../http/route.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import type { CompatIntake } from './compat-intake.ts';
import { describeCompat } from './describe-compat.ts';
import { messageTime, messageTimeOf, recordTime } from './message-time.ts';
import type { MessageTime } from './message-time.ts';
import { completePage } from './spec-context.ts';
import { writePlainCapture } from './plain-capture.ts';
import { fromPosthog as contextNames } from '../../../shared/contracts/events/posthog-names.ts';
import { specEventNames } from './spec-message.ts';
import { userPropertiesOf } from './spec-traits.ts';
import { idProblem, messagesIn, readEventId, readId } from './translation.ts';
import type { Arrival, Dialect, Translated, Translation } from './translation.ts';

/**
 * What PostHog's libraries capture (posthog.com/docs/api/capture), measured with `posthog-node` 5.70 and `posthog-js`
 * 1.20 to 1.449: one event, a list of events, or a `batch`, as JSON, gzip, or a form whose field `data` is JSON or
 * gzip. Every address accepts all of these forms.
 */
const document = 'posthog';
const paths = ['/batch', '/capture', '/e', '/i/v0/e', '/i/v0/ai/batch', '/track', '/engage'];
/** Addresses of recordings, logs and metrics, which a page sends only if its own code enables them. */
const unstoredPaths = ['/s', '/i/v1/logs', '/i/v1/metrics'];

export function createPostHogRoutes(compat: CompatIntake): readonly Route[] {
  const route: PostRoute = {
    name: 'posthog-capture',
    method: 'post',
    paths,
    document,
    openapi: describeCompat('posthog-capture', paths, 'One event, or many in `batch`', compat.bodyBytesMax),
    readsQuery: true,
    bodyBytesMax: compat.bodyBytesMax,
    refuse: (exchange) => compat.refuse(exchange),
    accept: (exchange, body, _parameter, query) => compat.accept(exchange, body, query, posthogCapture),
  };
  return [route, unstoredRoute(compat)];
}

function unstoredRoute(compat: CompatIntake): PostRoute {
  const summary = 'Recordings, logs and metrics of a page: accepted and discarded';
  const responses = { 200: { description: 'Not stored' } };
  const described = unstoredPaths.map(
    (path, index) => [path, { post: { operationId: `posthog-unstored-${index + 1}`, summary, responses } }] as const,
  );
  return {
    name: 'posthog-unstored',
    method: 'post',
    paths: unstoredPaths,
    document,
    openapi: { paths: Object.fromEntries(described) },
    bodyBytesMax: compat.bodyBytesMax,
    // A refused body is discarded as it arrives, so none is held in memory.
    refuse: () => accepted,
    accept: (exchange) => exchange.send(accepted),
  };
}

/** The source key in an event or in a request for flags; undefined if there is none. */
export function messageKey({ api_key: apiKey, token, $token: oldToken, properties }: JsonObject): unknown {
  const own = isJsonObject(properties) ? properties : {};
  return apiKey ?? token ?? oldToken ?? own['token'] ?? own['$token'] ?? own['api_key'];
}

/** The key that all of these events have; undefined if they have none or different ones. */
function keyOfMessages(messages: readonly unknown[]): unknown {
  const keys = new Set(messages.filter(isJsonObject).map(messageKey));
  keys.delete(undefined);
  return keys.size === 1 ? [...keys][0] : undefined;
}

/** Versions before 1.449 send their clock in ms as `_` of the query. */
function sentAtOf(query: string): number | undefined {
  const sentMs = /(?:^|&)_=(\d{13})(?:&|$)/.exec(query)?.[1];
  return sentMs === undefined ? undefined : Number(sentMs);
}

/** A request with one event, or with many. */
export const posthogCapture: Dialect = {
  keyOf: ({ api_key: apiKey, token }) => apiKey ?? token,
  keyOfMessages,
  takesListsAndForms: true,
  sentAtOf,
  messagesOf: (body) => (body['batch'] === undefined ? [body] : messagesIn(body['batch'])),
  translate: translateCapture,
  writePlain: writePlainCapture,
};

/**
 * Translates a PostHog event. Its distinct_id becomes our externalId, unless its visitor is anonymous; the id then
 * becomes our userId. `$identify` and `$create_alias` join two ids.
 */
function translateCapture(message: JsonObject, body: JsonObject, arrival: Arrival): Translation {
  const properties = isJsonObject(message['properties']) ? message['properties'] : {};
  const givenId =
    readId(message, 'distinct_id') ?? readId(properties, 'distinct_id') ?? readId(message, '$distinct_id');
  const distinctId = message['event'] === '$groupidentify' && givenId === groupAsId(properties) ? undefined : givenId;
  const anonymousId = readId(properties, '$anon_distinct_id') ?? readId(properties, '$device_id');
  const problem = idProblem({ distinct_id: distinctId, $anon_distinct_id: anonymousId });
  if (problem !== undefined) return { problem };
  // Old versions set a person's properties by a message without an event.
  const event = message['event'] ?? (isJsonObject(message['$set']) ? '$identify' : undefined);
  if (typeof event !== 'string' || event === '' || event.length > textCharactersMax.event) {
    return { problem: `event must be a string of 1 to ${textCharactersMax.event} characters` };
  }
  const { defaultProperties, eventProperties, identityContext } = divide(properties);
  const time = timeOf(message, body['sent_at'] ?? message['sent_at'], arrival);
  recordTime(defaultProperties, time);
  const isAnonymous = distinctId !== undefined && isAnonymousId(distinctId, properties);
  const given = properties['$set'] ?? message['$set'];
  const { userHash } = properties;
  const set = isJsonObject(given) ? userPropertiesOf(given) : undefined;
  const ids = isAnonymous
    ? { userId: distinctId, externalId: undefined }
    : { userId: anonymousId, externalId: distinctId };
  // One object shape for all events: spreading parts into it would cost more than the rest.
  const made = (kind: Translated['kind'], own: OwnFields, { userId, externalId } = ids): Translated => ({
    kind,
    id: readEventId(message, 'uuid') ?? readEventId(properties, '$insert_id'),
    identity: { userId, externalId, userProperties: own.userProperties ?? set },
    body: {
      event: own.event,
      userId,
      externalId,
      time: time.timeMs,
      eventProperties: own.eventProperties,
      userProperties: own.userProperties ?? set,
      defaultProperties,
      identityContext,
      // The customer's page sets it for all events: posthog.register({userHash}).
      userHash: typeof userHash === 'string' ? userHash : undefined,
    },
  });
  switch (event) {
    case '$identify':
      return made('identify', { userProperties: set ?? {} });
    case '$create_alias':
    case '$merge_dangerously': {
      const aliasId = readId(properties, 'alias');
      if (aliasId === undefined || distinctId === undefined) return { problem: 'alias and distinct_id are required' };
      const aliasProblem = idProblem({ alias: aliasId });
      if (aliasProblem !== undefined) return { problem: aliasProblem };
      // PostHog keeps distinct_id, but its libraries in browsers and apps give the person's id as the alias.
      const [previousId, id] = isAnonymous ? [distinctId, aliasId] : [aliasId, distinctId];
      const eventProperties = { previous_id: previousId, id };
      const alias = { event: specEventNames.alias, eventProperties, userProperties: { external_id: id } };
      return made('track', alias, { userId: previousId, externalId: previousId });
    }
    default:
      return made('track', { event: eventNames.get(event) ?? event, eventProperties });
  }
}

/** Whether the library made up a distinct_id: as posthog-js does at a reset, mobile libraries without a `$device_id`. */
const isAnonymousId = (distinctId: string, properties: JsonObject): boolean =>
  distinctId === readId(properties, '$device_id') ||
  (properties['$is_identified'] === false && readId(properties, '$anon_distinct_id') === undefined);

/** The distinct_id that server libraries make up for a group that is identified without a person. */
const groupAsId = (properties: JsonObject): string =>
  `$${readId(properties, '$group_type')}_${readId(properties, '$group_key')}`;

/**
 * The time of an event: by its sender's clock, or as an offset in ms before the event was sent. The arrival
 * approximates the time of sending.
 */
function timeOf(message: JsonObject, sentAt: unknown, arrival: Arrival): MessageTime {
  const { timestamp, offset } = message;
  if ((timestamp ?? undefined) !== undefined || typeof offset !== 'number')
    return messageTime(timestamp, sentAt, arrival);
  return messageTimeOf(arrival.atMs - Math.round(offset), undefined, arrival);
}

/** The fields that depend on the event. */
type OwnFields = {
  readonly event?: string;
  readonly eventProperties?: JsonObject;
  readonly userProperties?: JsonObject;
};

const eventNames: ReadonlyMap<string, string> = new Map([
  ['$pageview', specEventNames.page],
  ['$screen', specEventNames.screen],
  ['$groupidentify', specEventNames.group],
]);

/** Divides properties into context and the event's own. */
function divide(properties: JsonObject) {
  const defaultProperties: Record<string, unknown> = {};
  const eventProperties: Record<string, unknown> = {};
  for (const name in properties) {
    // Nearly all context properties begin with a dollar.
    const own = name.startsWith('$') ? contextNames.get(name) : undefined;
    if (own !== undefined) copyMember(defaultProperties, own, properties, name);
    else if (!isElsewhere.has(name)) copyMember(eventProperties, name, properties);
  }
  completePage(defaultProperties);
  const { $ip: ip, $raw_user_agent: userAgent } = properties;
  const network = {
    ip: typeof ip === 'string' && ip !== '' ? ip : undefined,
    userAgent: typeof userAgent === 'string' && userAgent !== '' ? userAgent : undefined,
  };
  const identityContext = network.ip === undefined && network.userAgent === undefined ? undefined : network;
  return { defaultProperties, eventProperties, identityContext };
}

/** Properties that become other fields. */
const isElsewhere: ReadonlySet<string> = new Set([
  '$set',
  '$ip',
  '$raw_user_agent',
  'token',
  '$token',
  'distinct_id',
  'userHash',
]);
