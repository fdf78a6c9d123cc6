import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { listOf, present } from '../sdk/json.ts';
import { hashPerson, knownPerson, matchingId } from '../sdk/person.ts';
import { baseUrl, batchSize, matching, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';

const settings = {
  pCode: requiredText(
    {
      label: 'P-code',
      placeholder: 'p-1a2b3c4d5e6f7',
      sublabel: 'The account ID: qacct in your Live Tag.',
      example: 'p-1a2b3c4d5e6f7',
    },
    matching(/^p-[A-Za-z0-9_-]{1,40}$/, 'must be an account ID of the form p-…'),
  ),
  // Quantcast publishes no batch limit. Batches are small because one invalid event fails the whole batch.
  batchSize: batchSize({ max: 100, fallback: 20 }),
  baseUrl: baseUrl('https://pixel.quantserve.com'),
};

/**
 * Quantcast, Conversion API: `POST /conversion?a={p-code}`, a JSON array, without authentication.
 * https://help.quantcast.com/docs/tagging-with-the-quantcast-live-tag-using-the-conversion-api. A visitor is
 * identified by the Live Tag's browser token (`quantcast_token`), else by IP address and browser; an event with
 * neither is refused. Quantcast does not deduplicate, so an event that is retried after a lost response counts twice.
 * Amounts are in the account's currency.
 */
export const quantcastCapi = defineDestination({
  id: 'QuantcastCAPI',
  label: 'Quantcast Conversion API',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 100 },
    deduplicatesBy: undefined,
    errors: 'status of the whole request',
    sources: ['https://help.quantcast.com/docs/tagging-with-the-quantcast-live-tag-using-the-conversion-api'],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: ['Quantcast'],
  },
  loadPlatform: async () => (await import('./platform.ts')).quantcastCapiPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/conversion?a=${encodeURIComponent(given.pCode)}`;
  return {
    batchEventsMax: given.batchSize,
    accepts: acceptsUnlimitedEvents,
    buildRequest: (events) => postJson({ url, body: events.map((event) => conversion(sentEvent(event))), events }),
  };
}

function conversion(event: SentEvent): JsonObject {
  const { url, referrer } = browserContext(event);
  const { value, orderId, items } = commerceOf(event);
  const details = present({
    orderid: orderId,
    revenue: value,
    product_category: items[0]?.category,
    labels: listOf(items[0]?.name),
  });
  return {
    name: event.name,
    time: event.timeMs,
    ...present({ url, referer: referrer }),
    user: user(event),
    event: details,
  };
}

function user(event: SentEvent): JsonObject {
  const token = browserId(event, ['quantcast_token', 'qc_token']);
  const { ip, userAgent } = browserContext(event);
  if (token === undefined && (ip === undefined || userAgent === undefined)) {
    throw new UnfitEventError('Quantcast needs a browser token, or both an IP address and a User-Agent');
  }
  const { email } = hashPerson(knownPerson(event));
  return {
    ...present({ token, client_ip: ip, client_user_agent: userAgent, email, external_id: matchingId(event) }),
  };
}
