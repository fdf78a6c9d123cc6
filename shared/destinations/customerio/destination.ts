import { isJsonObject } from '../../process/json.ts';
import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting } from '../sdk/settings.ts';
import { basicAuthorization } from '../sdk/http.ts';
import { batchSizeSetting, readBatchSize } from '../sdk/settings.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import { propertiesOf, traitsOf } from '../sdk/event.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventUlid } from '../sdk/event-ids.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { postJson } from '../sdk/http.ts';
import { readRegionUrl, regionSetting } from '../sdk/settings.ts';
import type { Regions } from '../sdk/settings.ts';
import { rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { isIdentify, sentEvent } from '../sdk/event.ts';
import { textSetting } from '../sdk/settings.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://track.customer.io' },
  { value: 'EU', label: 'European Union', url: 'https://track-eu.customer.io' },
];
// Customer.io counts bytes only: 500 kB a request, 32 kB a row.
const batch = { max: 500, fallback: 100 };

/**
 * Customer.io, Track API version 2: `POST /api/v2/batch`, https://docs.customer.io/integrations/api/track/#tag/track_v2.
 * Events carry a ULID made of the event's id and time, by which Customer.io recognises what it has; whoever has no name
 * yet goes by an `anonymous_id`, which an $identify ties to the person.
 */
export const customerio = defineDestination({
  descriptor: {
    id: 'Customerio',
    label: 'Customer.io',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'siteId',
        label: 'Site ID',
        placeholder: '',
        sublabel: 'Account settings, API credentials, Track API keys.',
        required: true,
      },
      { type: 'Secret', key: 'apiKey', label: 'API key', placeholder: '', sublabel: null, required: true },
      regionSetting(regions),
      batchSizeSetting(batch),
      baseUrlSetting(regions[0].url),
    ],
  },
  exampleSettings: { siteId: 'example-site', apiKey: 'example-key', region: 'EU', batchSize: '100' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const url = `${readRegionUrl(settings, regions)}/api/v2/batch`;
  const headers = {
    authorization: basicAuthorization(textSetting(settings, 'siteId'), textSetting(settings, 'apiKey')),
  };
  return {
    batchEventsMax: readBatchSize(settings, batch),
    buildRequest: (events) => postJson({ url, headers, body: { batch: events.map(operation) }, events }),
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
