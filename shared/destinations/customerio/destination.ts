import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventUlid } from '../sdk/event-ids.ts';
import { isIdentify, propertiesOf, sentEvent, traitsOf } from '../sdk/event.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import { batchSize, region, requiredSecret, requiredText, optionalBaseUrl } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://track.customer.io' },
  { value: 'EU', label: 'European Union', url: 'https://track-eu.customer.io' },
];
// Customer.io counts bytes only: 500 kB a request, 32 kB a row.
const batch = { max: 500, fallback: 100 };
const bodyBytesMax = 500_000;

const settings = {
  siteId: requiredText({
    label: 'Site ID',
    sublabel: 'Account settings, API credentials, Track API keys.',
    example: 'example-site',
  }),
  apiKey: requiredSecret({ label: 'API key', example: 'example-key' }),
  region: region(regions),
  batchSize: batchSize(batch),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * Customer.io, Track API version 2: `POST /api/v2/batch`, https://docs.customer.io/integrations/api/track/#tag/track_v2.
 * Events carry a ULID made of the event's id and time, by which Customer.io recognises what it has; whoever has no name
 * yet goes by an `anonymous_id`, which an $identify ties to the person.
 */
export const customerio = defineDestination({
  id: 'Customerio',
  label: 'Customer.io',
  settings,
  facts: {
    sends: 'Every event; $identify sets attributes',
    limits: { events: 500, bytes: 500_000 },
    deduplicatesBy: 'id',
    errors: 'rows by place in a 207',
    sources: ['https://docs.customer.io/integrations/api/track/#tag/track_v2'],
    checked: '2026-11-22',
    namesElsewhere: ['Actions Customerio', 'Customer.io Actions', 'Customer.io Data Pipelines'],
  },
  loadPlatform: async () => (await import('./platform.ts')).customerioPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/api/v2/batch`;
  const headers = {
    authorization: basicAuthorization(given.siteId, given.apiKey),
  };
  return {
    batchEventsMax: given.batchSize,
    buildRequest: (events) =>
      withinBytes(postJson({ url, headers, body: { batch: events.map(operation) }, events }), bodyBytesMax),
    readAnswer: (answer, events) => readErrors(answer, events.length),
  };
}

function operation(event: OutboundEvent): JsonObject {
  const { id, name, timeMs } = sentEvent(event);
  const ids = contactIds(event);
  const known = knownBy(ids);
  if (isIdentify(event)) {
    if (known === undefined) throw new UnfitEventError('Customer.io needs an external id or an e-mail address');
    const attributes = { ...traitsOf(event), email: ids.email, anonymous_id: ids.visitorId };
    return { type: 'person', action: 'identify', identifiers: known, attributes };
  }
  return {
    type: 'person',
    action: 'event',
    identifiers: known ?? { anonymous_id: ids.visitorId },
    id: eventUlid(id, timeMs),
    name,
    timestamp: Math.floor(timeMs / 1_000),
    attributes: propertiesOf(event),
  };
}

function knownBy({ externalId, email }: ContactIds): JsonObject | undefined {
  if (externalId !== undefined) return { id: externalId };
  return email === undefined ? undefined : { email };
}

/** 207: all but the rows named were taken. */
function readErrors(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const errors = answer.status === 207 ? jsonAnswer(answer)?.['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const refusals = errors
    .filter(isJsonObject)
    .map(({ batch_index, reason, field }) => [Number(batch_index), rowRefusal(reason, field)] as const);
  return rowOutcomes(count, new Map(refusals));
}
