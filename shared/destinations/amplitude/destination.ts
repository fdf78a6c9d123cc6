import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isAlias } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { batchSize, choice, region, requiredSecret, optionalBaseUrl, optionalText } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import { traitNames } from '../sdk/trait-names.ts';
import { amplitudeNames, amplitudeRows } from './payload.ts';
import type { AmplitudeSettings } from './payload.ts';
import { amplitudeErasureSettings, eraseAtAmplitude } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api2.amplitude.com' },
  { value: 'EU', label: 'European Union', url: 'https://api.eu.amplitude.com' },
];
// Amplitude accepts 2,000 events and 1 MB per request; a lower maximum of events usually keeps requests below 1 MB.
const batch = { max: 1_000, fallback: 100 };
const endpoints = {
  '/2/httpapi': { bodyBytesMax: 1_000_000 },
  '/batch': { bodyBytesMax: 20_000_000 },
} as const;
type Endpoint = keyof typeof endpoints;
const rowsMax = 2_000;

const settings = {
  apiKey: requiredSecret({ label: 'API key', sublabel: 'From the project settings.', example: 'example-key' }),
  region: region(regions),
  endpoint: choice<Endpoint>({
    label: 'Interface',
    options: [
      { label: 'HTTP V2', value: '/2/httpapi' },
      { label: 'Batch Event Upload', value: '/batch' },
    ],
    sublabel:
      'Batch Event Upload accepts 1,000 events per second of one user and 20 MB per request, with a delay before events are visible. For replays and high traffic.',
    fallback: '/2/httpapi',
  }),
  batchSize: batchSize(batch),
  groupType: optionalText({
    label: 'Group type',
    placeholder: 'company',
    sublabel: 'Group type for group events without one.',
  }),
  revenueOf: choice<'orders' | 'products'>({
    label: 'Revenue',
    options: [
      { label: 'One amount per order', value: 'orders' },
      { label: 'An event for each product', value: 'products' },
    ],
    sublabel:
      'With one event a product, each product of an order is a Product Purchased event with its price, and the order has no amount.',
    fallback: 'orders',
  }),
  traitNames: traitNames(),
  baseUrl: optionalBaseUrl(regions[0].url),
  ...amplitudeErasureSettings,
};

/**
 * Amplitude, HTTP V2 API: `POST /2/httpapi`, https://amplitude.com/docs/apis/analytics/http-v2, or Batch Event Upload
 * with the same events: `POST /batch`, https://amplitude.com/docs/apis/analytics/batch-event-upload. The event id is
 * `insert_id`, by which Amplitude deduplicates for 7 days; $identify is sent as Amplitude's event type $identify with
 * `user_properties` to set.
 */
export const amplitude = defineDestination({
  id: 'Amplitude',
  label: 'Amplitude',
  settings,
  facts: {
    sends: 'Every event but aliases; $identify sets user properties, $group sets group properties',
    limits: { events: 2_000, bytes: 1_000_000 },
    deduplicatesBy: 'insert_id',
    errors: 'invalid rows by field, throttled users and devices by id; then no row is accepted',
    sources: [
      'https://amplitude.com/docs/apis/analytics/http-v2',
      'https://amplitude.com/docs/apis/analytics/batch-event-upload',
    ],
    checked: '2026-11-27',
    version: { name: '2', ends: undefined },
    notCarried: ['page names in event names: a mapping renames events'],
    skips: { alias: 'Amplitude merges a device and a user from events that carry both ids' },
    namesElsewhere: amplitudeNames,
  },
  loadPlatform: async () => (await import('./platform.ts')).amplitudePlatform,
  prepare,
  erase: eraseAtAmplitude,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}${given.endpoint}`;
  const apiKey = given.apiKey;
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => !isAlias(event),
    buildRequest(events) {
      const rows = events.flatMap((event) => amplitudeRows(event, given));
      if (rows.length > rowsMax) throw new UnfitEventError(`an order of more than ${rowsMax} products`);
      // Customers' ids may be shorter than Amplitude's default minimum of five characters.
      const body = { api_key: apiKey, events: rows, options: { min_id_length: 1 } };
      return withinBytes(postJson({ url, body, events }), endpoints[given.endpoint].bodyBytesMax);
    },
    readAnswer: (answer, events) =>
      answer.status === 429 ? readThrottled(answer, events, given) : readRefusals(answer, events, given),
  };
}

// Amplitude averages rates over 30 seconds, and its own SDKs wait as long.
const throttled: Outcome = { kind: 'retry', reason: 'the user or device is throttled', afterMs: 30_000 };
const sentAgain: Outcome = { kind: 'retry', reason: 'status 429', unnamed: 'some' };

/**
 * A 429 means that Amplitude has accepted no event because of the users and devices that it names. Undefined if it
 * names none of the request.
 */
function readThrottled(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  given: AmplitudeSettings,
): readonly Outcome[] | undefined {
  const body = jsonAnswer(answer) ?? {};
  const idsIn = (...members: readonly string[]): ReadonlySet<unknown> =>
    new Set(members.flatMap((member) => (isJsonObject(body[member]) ? Object.keys(body[member]) : [])));
  const users = idsIn('throttled_users', 'exceeded_daily_quota_users');
  const devices = idsIn('throttled_devices', 'exceeded_daily_quota_devices');
  const places = new Set<unknown>(Array.isArray(body['throttled_events']) ? body['throttled_events'] : []);
  let place = -1;
  const isNamed = (row: JsonObject): boolean => {
    place += 1;
    return places.has(place) || users.has(row['user_id']) || devices.has(row['device_id']);
  };
  const named = events.map((event) => amplitudeRows(event, given).filter(isNamed).length > 0);
  return named.includes(true) ? named.map((is) => (is ? throttled : sentAgain)) : undefined;
}

/**
 * A 400 means that Amplitude has accepted no event, and lists the invalid ones by field. If there is no such list, the
 * request itself is at fault, usually its key. Returns undefined if only some events are listed: the dispatcher then
 * sends smaller batches.
 */
function readRefusals(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  given: AmplitudeSettings,
): readonly Outcome[] | undefined {
  const count = events.length;
  const body = answer.status === 400 ? jsonAnswer(answer) : undefined;
  if (body === undefined) return undefined;
  const refusals = new Map<number, string>();
  // The response has indexes of rows, and one event may have several rows.
  const eventOfRow = events.flatMap((event, index) => amplitudeRows(event, given).map(() => index));
  const refuse = (row: unknown, reason: string): void => {
    const index = eventOfRow[Number(row)];
    if (index !== undefined) refusals.set(index, reason);
  };
  for (const list of ['events_with_invalid_fields', 'events_with_missing_fields', 'events_with_invalid_id_lengths']) {
    const byField = body[list];
    for (const [field, indexes] of Object.entries(isJsonObject(byField) ? byField : {})) {
      for (const index of Array.isArray(indexes) ? indexes : []) refuse(index, rowRefusal(field));
    }
  }
  const silenced = body['silenced_events'];
  for (const index of Array.isArray(silenced) ? silenced : []) refuse(index, rowRefusal('silenced'));
  if (refusals.size === 0) {
    const reason = rowRefusal('request', body['missing_field']);
    const isOfKey = body['missing_field'] === 'api_key' || /^invalid api[ _]key/i.test(String(body['error']));
    const outcome: Outcome = isOfKey ? { kind: 'retry', reason, refusesAccess: true } : { kind: 'reject', reason };
    return Array.from({ length: count }, () => outcome);
  }
  const isAboutAll = Array.from({ length: count }, (_, index) => index).every((index) => refusals.has(index));
  return isAboutAll ? rowOutcomes(count, refusals) : undefined;
}
