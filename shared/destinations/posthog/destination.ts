import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventUuid } from '../sdk/event-ids.ts';
import { contextOf, identifyEvent, isIdentify, propertiesOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { renameMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { batchSize, region, requiredSecret, optionalBaseUrl } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';

const regions: Regions = [
  { value: 'US', label: 'US Cloud', url: 'https://us.i.posthog.com' },
  { value: 'EU', label: 'EU Cloud', url: 'https://eu.i.posthog.com' },
];
// PostHog counts bytes only, 20 MB a request.
const batch = { max: 1_000, fallback: 250 };
const bodyBytesMax = 20_000_000;

/** PostHog's names for what a browser says, https://posthog.com/docs/data/events#default-properties. */
const contextNames: ReadonlyMap<string, string> = new Map([
  ['current_url', '$current_url'],
  ['host', '$host'],
  ['pathname', '$pathname'],
  ['referrer', '$referrer'],
  ['ip', '$ip'],
  ['user_agent', '$raw_user_agent'],
  ['browser_name', '$browser'],
  ['browser_version', '$browser_version'],
  ['os_name', '$os'],
  ['os_version', '$os_version'],
  ['device_type', '$device_type'],
  ['screen_width', '$screen_width'],
  ['screen_height', '$screen_height'],
]);

const settings = {
  projectApiKey: requiredSecret({
    label: 'Project API key',
    placeholder: 'phc_…',
    sublabel: 'Project settings, General.',
    example: 'phc_example',
  }),
  region: region(regions),
  batchSize: batchSize(batch),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * PostHog, Cloud or self-hosted: `POST /batch/`, https://posthog.com/docs/api/capture. A UUID made of the event's id is
 * the event's `uuid`; $identify sets person properties and ties what the visitor did before it had a name.
 */
export const posthog = defineDestination({
  id: 'PostHog',
  label: 'PostHog',
  settings,
  facts: {
    sends: "Every event; $identify sets the person's properties",
    limits: { events: 1_000, bytes: 20_000_000 },
    deduplicatesBy: 'uuid',
    errors: 'status, for the whole request',
    sources: ['https://posthog.com/docs/api/capture'],
    checked: '2026-11-22',
  },
  loadPlatform: async () => (await import('./platform.ts')).posthogPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/batch/`;
  const apiKey = given.projectApiKey;
  return {
    batchEventsMax: given.batchSize,
    buildRequest: (events) =>
      withinBytes(postJson({ url, body: { api_key: apiKey, batch: events.map(posthogEvent) }, events }), bodyBytesMax),
    readAnswer: (answer, events) =>
      answer.status === 200 && isOverQuota(answer) ? events.map(() => overQuota) : undefined,
  };
}

const standardName = platformEventNames('PostHog');

const overQuota: Outcome = {
  kind: 'retry',
  reason: 'the project is over its quota',
  afterMs: 3_600_000,
  isThrottled: true,
};

/** A project over its quota is answered 200 and its events dropped; newer servers say so. */
function isOverQuota(answer: OutboundAnswer): boolean {
  const limited = jsonAnswer(answer)?.['quota_limited'];
  return Array.isArray(limited) && limited.includes('events');
}

function posthogEvent(event: OutboundEvent): JsonObject {
  const sent = sentEvent(event);
  const { id, timeMs } = sent;
  const name = standardName(sent) ?? sent.name;
  const { externalId, visitorId } = contactIds(event);
  const context = contextOf(event);
  const common = {
    uuid: eventUuid(id),
    distinct_id: externalId ?? visitorId,
    timestamp: new Date(timeMs).toISOString(),
  };
  // Without the visitor's address PostHog would place the person where this request comes from.
  const place = { $lib: 'sluice', ...(textOf(context['ip']) === undefined ? { $geoip_disable: true } : {}) };
  const told = renameMembers(context, contextNames);
  if (!isIdentify(event)) {
    return { ...common, event: name, properties: { ...place, ...told, ...propertiesOf(event) } };
  }
  const set = { ...place, ...told, $set: traitsOf(event) };
  if (externalId === undefined) return { ...common, event: '$set', properties: set };
  return { ...common, event: identifyEvent, properties: { ...set, $anon_distinct_id: visitorId } };
}
