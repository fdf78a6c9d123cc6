import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { amountOf, commerceOf } from '../sdk/commerce.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import {
  contextOf,
  groupIn,
  groupOfVisitor,
  identifyEvent,
  isAlias,
  isGroup,
  isIdentify,
  mappedProperties,
  numberOf,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { batchSize, region, requiredSecret, optionalBaseUrl, optionalText } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';
import { integrationOptions } from '../sdk/integration-options.ts';
import { amplitudeErasureSettings, eraseAtAmplitude } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api2.amplitude.com' },
  { value: 'EU', label: 'European Union', url: 'https://api.eu.amplitude.com' },
];
// A request may carry up to 2,000 events and 1 MB; the smaller batch is meant to stay below that.
const batch = { max: 1_000, fallback: 100 };
const bodyBytesMax = 1_000_000;

/** What of a context has a place of its own in an event, so is no property. */
const fieldNames: ReadonlySet<string> = new Set([
  'ip',
  'user_agent',
  'os_name',
  'os_version',
  'device_type',
  'device_model',
  'device_brand',
  'device_manufacturer',
  'device_ad_tracking_enabled',
  'app_version',
  'network_carrier',
  'location_country',
  'location_region',
  'location_city',
  'language',
  'locale',
  'browser_language',
  'sid',
]);

/** At Segment and RudderStack. */
const names = ['Amplitude', 'Actions Amplitude', 'AM'] as const;

const settings = {
  apiKey: requiredSecret({ label: 'API key', sublabel: 'Of the project, from its settings.', example: 'example-key' }),
  region: region(regions),
  batchSize: batchSize(batch),
  groupType: optionalText({
    label: 'Group type',
    placeholder: 'company',
    sublabel: 'What groups are whose event does not say.',
  }),
  traitNames: traitNames(),
  baseUrl: optionalBaseUrl(regions[0].url),
  ...amplitudeErasureSettings,
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
    sends: 'Every event but aliases; $identify sets user properties, $group those of the group',
    limits: { events: 2_000, bytes: 1_000_000 },
    deduplicatesBy: 'insert_id',
    errors: 'rows at fault by field, and none is taken',
    sources: ['https://amplitude.com/docs/apis/analytics/http-v2'],
    checked: '2026-11-22',
    version: { name: '2', ends: undefined },
    skips: { alias: 'Amplitude joins a device and a user by the events that name both' },
    namesElsewhere: names,
  },
  loadPlatform: async () => (await import('./platform.ts')).amplitudePlatform,
  prepare,
  erase: eraseAtAmplitude,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/2/httpapi`;
  const apiKey = given.apiKey;
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => !isAlias(event),
    buildRequest(events) {
      const rows = events.map((event) => amplitudeEvent(event, given));
      // Ids of a customer may be shorter than the five characters Amplitude asks for by itself.
      const body = { api_key: apiKey, events: rows, options: { min_id_length: 1 } };
      return withinBytes(postJson({ url, body, events }), bodyBytesMax);
    },
    readAnswer: (answer, events) => readRefusals(answer, events.length),
  };
}

type Given = SettingsOf<typeof settings>;

const standardGroupType = 'company';

function amplitudeEvent(event: OutboundEvent, given: Given): JsonObject {
  const sent = sentEvent(event);
  const { id, name, timeMs } = sent;
  const properties = propertiesOf(event);
  const ids = contactIds(event);
  const context = contextOf(event);
  const groupType = given.groupType ?? standardGroupType;
  const common = { user_id: ids.externalId, device_id: ids.visitorId, time: timeMs, insert_id: id, ...fieldsOf(event) };
  const traits = namedTraits(traitsOf(event), given.traitNames);
  if (isIdentify(event)) return { ...common, event_type: identifyEvent, user_properties: { $set: traits } };
  if (isGroup(event)) {
    const group = groupIn(properties, groupType);
    if (group === undefined) throw new UnfitEventError('the event names no group');
    const groups = { [group.type]: group.id };
    const set = Object.keys(group.traits).length === 0 ? {} : { group_properties: { $set: group.traits } };
    return { ...common, event_type: '$groupidentify', groups, ...set };
  }
  const group = groupOfVisitor(event);
  const isMapped = mappedProperties(event) !== undefined;
  return {
    ...common,
    event_type: name,
    event_properties: { ...withoutMembers(context, fieldNames), ...properties },
    groups: group === undefined ? undefined : { [groupType]: group },
    user_properties: isMapped || Object.keys(traits).length === 0 ? undefined : { $set: traits },
    revenue: revenueOf(sent, properties),
  };
}

/** What is known of the device and the place. Of a browser Amplitude finds system and device by its User-Agent. */
function fieldsOf(event: OutboundEvent): JsonObject {
  if (mappedProperties(event) !== undefined) return {};
  const sent = sentEvent(event);
  const { context } = sent;
  const { platform, advertisingId, vendorId } = deviceOf(sent);
  const options = integrationOptions(sent, names);
  const sessionId =
    numberOf(sent.properties['session_id']) ?? numberOf(options['session_id']) ?? numberOf(context['sid']);
  const isApp = isOfApp(sent);
  return {
    ip: textOf(context['ip']),
    session_id: sessionId !== undefined && Number.isSafeInteger(sessionId) && sessionId >= 0 ? sessionId : undefined,
    app_version: textOf(context['app_version']),
    platform: isApp ? (platform === 'ios' ? 'iOS' : 'Android') : textOf(context['current_url']) && 'Web',
    os_name: textOf(context['os_name']),
    os_version: textOf(context['os_version']),
    device_brand: textOf(context['device_brand']),
    device_manufacturer: textOf(context['device_manufacturer']),
    device_model: textOf(context['device_model']) ?? textOf(context['device_type']),
    carrier: textOf(context['network_carrier']),
    country: textOf(context['location_country']),
    region: textOf(context['location_region']),
    city: textOf(context['location_city']),
    language: textOf(context['locale']) ?? textOf(context['language']) ?? textOf(context['browser_language']),
    idfa: platform === 'ios' ? advertisingId : undefined,
    adid: platform === 'android' ? advertisingId : undefined,
    idfv: vendorId,
    user_agent: textOf(context['user_agent']),
  };
}

/** The amount of a purchase, whatever name it goes by; of any other event what it calls revenue. */
function revenueOf(sent: SentEvent, properties: JsonObject): number | undefined {
  if (standardEventOf(sent.name) !== 'purchase') return amountOf(properties['revenue']);
  return commerceOf({ properties, defaultCurrency: undefined }).value;
}

/**
 * Amplitude takes nothing of a request it answers 400 to, and lists the events at fault by field. One that lists none
 * is about the request: its key, most of all. One that lists some leaves it to the dispatcher to send the others again.
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
