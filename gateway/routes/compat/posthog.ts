import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { PostRoute, Route } from '../../http/route.ts';
import { textCharactersMax } from '../../payload/payload-fields.ts';
import type { CompatIntake } from './compat-intake.ts';
import { describeCompat } from './describe-compat.ts';
import { clampedFromKey, messageTime } from './message-time.ts';
import { addPage } from './spec-context.ts';
import { specEventNames } from './spec-message.ts';
import { userPropertiesOf } from './spec-traits.ts';
import { idProblem, readId } from './translation.ts';
import type { Arrival, Dialect, Translated, Translation } from './translation.ts';

/**
 * What PostHog's libraries capture (posthog.com/docs/api/capture), measured with `posthog-node` 5.70: `/batch/` with many
 * events, `/capture/`, `/e/` and `/i/v0/e/` with one or many. Feature flags, decisions and recordings are not answered.
 */
const document = 'posthog';
const paths = ['/batch', '/capture', '/e', '/i/v0/e'];

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
  return [route];
}

/** A request with one event, or with many. */
export const posthogCapture: Dialect = {
  keyOf: ({ api_key: apiKey, token }) => apiKey ?? token,
  messagesOf: (body) => {
    if (Array.isArray(body['batch'])) return body['batch'];
    return body['batch'] === undefined ? [body] : undefined;
  },
  translate: translateCapture,
};

/** Properties of PostHog's that say where an event happened, under our names. */
const contextNames: Readonly<Record<string, string>> = {
  $current_url: 'current_url',
  $host: 'host',
  $pathname: 'pathname',
  $referrer: 'referrer',
  $browser: 'browser_name',
  $browser_version: 'browser_version',
  $os: 'os_name',
  $os_version: 'os_version',
  $device_type: 'device_type',
  $device_model: 'device_model',
  $device_manufacturer: 'device_manufacturer',
  $screen_width: 'screen_width',
  $screen_height: 'screen_height',
  $session_id: 'sid',
  $timezone: 'timezone',
  $app_name: 'app_name',
  $app_version: 'app_version',
  $lib: 'library_name',
  $lib_version: 'library_version',
};

/**
 * An event of PostHog's as one of ours. Its distinct_id is our externalId, unless it is the id of the device, which is
 * how browsers say that nobody is identified: then it is our userId. `$identify` and `$create_alias` tie two ids together.
 */
function translateCapture(message: JsonObject, body: JsonObject, arrival: Arrival): Translation {
  const properties = isJsonObject(message['properties']) ? message['properties'] : {};
  const distinctId = readId(message['distinct_id'] ?? properties['distinct_id']);
  const anonymousId = readId(properties['$anon_distinct_id'] ?? properties['$device_id']);
  const aliasId = readId(properties['alias']);
  const problem = idProblem({ distinct_id: distinctId, $anon_distinct_id: anonymousId, alias: aliasId });
  if (problem !== undefined) return { problem };
  const { event } = message;
  if (typeof event !== 'string' || event === '' || event.length > textCharactersMax.event) {
    return { problem: `event must be a string of 1 to ${textCharactersMax.event} characters` };
  }
  const { defaultProperties, eventProperties, identityContext } = divide(properties);
  const time = messageTime(message['timestamp'], body['sent_at'] ?? message['sent_at'], arrival);
  if (time.clampedFromMs !== undefined) defaultProperties[clampedFromKey] = time.clampedFromMs;
  const isAnonymous = distinctId !== undefined && distinctId === readId(properties['$device_id']);
  const identity = isAnonymous ? { userId: distinctId } : { userId: anonymousId, externalId: distinctId };
  const given = properties['$set'] ?? message['$set'];
  const set = isJsonObject(given) ? { userProperties: userPropertiesOf(given) } : {};
  const made = (kind: Translated['kind'], own: JsonObject): Translated => ({
    kind,
    id: readId(message['uuid'] ?? properties['$insert_id']),
    identity,
    body: { ...identity, time: time.timeMs, defaultProperties, identityContext, ...own },
  });
  switch (event) {
    case '$identify':
      return made('identify', { userProperties: {}, ...set });
    case '$create_alias':
    case '$merge_dangerously': {
      if (aliasId === undefined || distinctId === undefined) return { problem: 'alias and distinct_id are required' };
      const ids = { userId: aliasId, externalId: aliasId };
      const eventProperties = { previous_id: aliasId, id: distinctId };
      const userProperties = { external_id: distinctId };
      const alias = made('track', { event: specEventNames.alias, ...ids, eventProperties, userProperties });
      return { ...alias, identity: ids };
    }
    default:
      return made('track', { event: eventNames[event] ?? event, eventProperties, ...set });
  }
}

const eventNames: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null) as object, {
  $pageview: specEventNames.page,
  $screen: specEventNames.screen,
  $groupidentify: specEventNames.group,
});

/** Where an event happened, and what happened. */
function divide(properties: JsonObject) {
  const defaultProperties: Record<string, unknown> = {};
  const eventProperties: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) {
    const own = Object.hasOwn(contextNames, name) ? contextNames[name] : undefined;
    if (own !== undefined) defaultProperties[own] = value;
    else if (!isElsewhere.has(name)) eventProperties[name] = value;
  }
  addPage({ url: defaultProperties['current_url'] }, defaultProperties);
  const { $ip: ip, $raw_user_agent: userAgent } = properties;
  const network = {
    ...(typeof ip === 'string' && ip !== '' ? { ip } : {}),
    ...(typeof userAgent === 'string' && userAgent !== '' ? { userAgent } : {}),
  };
  const identityContext = Object.keys(network).length > 0 ? network : undefined;
  return { defaultProperties, eventProperties, identityContext };
}

/** Properties that are read into something else. */
const isElsewhere: ReadonlySet<string> = new Set(['$set', '$ip', '$raw_user_agent', 'token', 'distinct_id']);
