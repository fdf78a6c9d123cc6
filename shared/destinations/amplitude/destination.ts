import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import {
  contextOf,
  identifyEvent,
  isIdentify,
  numberOf,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { batchSize, region, requiredSecret, optionalBaseUrl } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api2.amplitude.com' },
  { value: 'EU', label: 'European Union', url: 'https://api.eu.amplitude.com' },
];
// A request may carry up to 2,000 events and 1 MB; the smaller batch is meant to stay below that.
const batch = { max: 1_000, fallback: 100 };
const bodyBytesMax = 1_000_000;

/** Fields of an event that have a place of their own, so are no properties. */
const fieldNames: ReadonlySet<string> = new Set([
  'ip',
  'user_agent',
  'os_name',
  'os_version',
  'device_type',
  'device_model',
  'language',
]);

const settings = {
  apiKey: requiredSecret({ label: 'API key', sublabel: 'Of the project, from its settings.', example: 'example-key' }),
  region: region(regions),
  batchSize: batchSize(batch),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * Amplitude, HTTP V2 API: `POST /2/httpapi`, https://amplitude.com/docs/apis/analytics/http-v2. The event's id is
 * `insert_id`, by which Amplitude recognises a repetition for 7 days; $identify is its event type of that name with
 * `user_properties` to set.
 */
export const amplitude = defineDestination({
  id: 'Amplitude',
  label: 'Amplitude',
  settings,
  facts: {
    sends: 'Every event; $identify sets user properties',
    limits: { events: 2_000, bytes: 1_000_000 },
    deduplicatesBy: 'insert_id',
    errors: 'rows at fault by field, and none is taken',
    sources: ['https://amplitude.com/docs/apis/analytics/http-v2'],
    checked: '2026-11-22',
    namesElsewhere: ['Actions Amplitude', 'AM'],
  },
  loadPlatform: async () => (await import('./platform.ts')).amplitudePlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/2/httpapi`;
  const apiKey = given.apiKey;
  return {
    batchEventsMax: given.batchSize,
    buildRequest(events) {
      // Ids of a customer may be shorter than the five characters Amplitude asks for by itself.
      const body = { api_key: apiKey, events: events.map(amplitudeEvent), options: { min_id_length: 1 } };
      return withinBytes(postJson({ url, body, events }), bodyBytesMax);
    },
    readAnswer: (answer, events) => readRefusals(answer, events.length),
  };
}

function amplitudeEvent(event: OutboundEvent): JsonObject {
  const { id, name, timeMs } = sentEvent(event);
  const properties = propertiesOf(event);
  const ids = contactIds(event);
  const context = contextOf(event);
  const common = {
    user_id: ids.externalId,
    device_id: ids.visitorId,
    time: timeMs,
    insert_id: id,
    ip: textOf(context['ip']),
    os_name: textOf(context['os_name']),
    os_version: textOf(context['os_version']),
    device_model: textOf(context['device_model']) ?? textOf(context['device_type']),
    language: textOf(context['language']),
  };
  if (isIdentify(event)) return { ...common, event_type: identifyEvent, user_properties: { $set: traitsOf(event) } };
  return {
    ...common,
    event_type: name,
    event_properties: { ...withoutMembers(context, fieldNames), ...properties },
    revenue: numberOf(properties['revenue']),
  };
}

/**
 * Amplitude takes nothing of a request it answers 400 to, and lists the events at fault by field. One that lists none
 * is about the request: its key, most of all. One that lists some leaves it to the dispatcher to send the others anew.
 */
function readRefusals(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const body = answer.status === 400 ? jsonAnswer(answer) : undefined;
  if (body === undefined) return undefined;
  const refusals = new Map<number, string>();
  for (const list of ['events_with_invalid_fields', 'events_with_missing_fields', 'events_with_invalid_id_lengths']) {
    const byField = body[list];
    for (const [field, indexes] of Object.entries(isJsonObject(byField) ? byField : {})) {
      for (const index of Array.isArray(indexes) ? indexes : []) refusals.set(Number(index), rowRefusal(field));
    }
  }
  const silenced = body['silenced_events'];
  for (const index of Array.isArray(silenced) ? silenced : []) refusals.set(Number(index), rowRefusal('silenced'));
  if (refusals.size === 0) {
    const reason = rowRefusal('request', body['missing_field']);
    const isOfKey = body['missing_field'] === 'api_key' || /^invalid api[ _]key/i.test(String(body['error']));
    const outcome: Outcome = isOfKey ? { kind: 'retry', reason, refusesAccess: true } : { kind: 'reject', reason };
    return Array.from({ length: count }, () => outcome);
  }
  const isAboutAll = Array.from({ length: count }, (_, index) => index).every((index) => refusals.has(index));
  return isAboutAll ? rowOutcomes(count, refusals) : undefined;
}
