import type { JsonObject } from '../../runtime/json.ts';
import { browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, batchSize, matching, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const settings = {
  accountId: requiredText(
    {
      label: 'Account ID',
      placeholder: '1234567',
      sublabel: 'The number of your account in Realize. A network account works too.',
      example: '1234567',
    },
    matching(/^\d{1,19}$/, 'must be a number'),
  ),
  batchSize: batchSize({ max: 1_000, fallback: 1_000 }),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl('https://trc.taboola.com'),
};

/**
 * Taboola, server-to-server conversions in bulk: `POST /{account}/log/3/bulk-s2s-action`, up to 1,000, without
 * authentication, answered with 204. https://developers.taboola.com/pixel/docs/bulk-submit-s2s-conversions. Events
 * need the click id (`tblci` of the landing page), by which Taboola attributes them. Names must match the conversions
 * in Realize, including case; Taboola deduplicates orders by `orderid`.
 */
export const taboola = defineDestination({
  id: 'Taboola',
  label: 'Taboola server-to-server conversions',
  settings,
  facts: {
    sends: 'Every event that has a click id',
    limits: { events: 1_000 },
    deduplicatesBy: 'orderid',
    errors: 'status of the whole request',
    sources: ['https://developers.taboola.com/pixel/docs/bulk-submit-s2s-conversions'],
    checked: '2026-11-22',
    version: { name: '3', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).taboolaPlatform,
  exampleSuccess: { status: 204, body: '' },
  exampleProperties: { tblci: 'GiC-example-click-1' },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/${given.accountId}/log/3/bulk-s2s-action`;
  return {
    batchEventsMax: given.batchSize,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const actions = events.map((event) => action(sentEvent(event, given)));
      return postJson({ url, body: { actions }, events });
    },
  };
}

// The event names that Realize proposes; events without one are sent under their own names.
const standardName = platformEventNames('Taboola');

function action(event: SentEvent): JsonObject {
  const click = browserId(event, ['tblci', 'taboola_cid']);
  if (click === undefined) throw new UnfitEventError('the event has no click id (tblci)');
  const { value, currency, orderId, itemCount } = commerceOf(event);
  return {
    'click-id': click,
    timestamp: event.timeMs,
    name: standardName(event) ?? event.name,
    revenue: value,
    currency: value === undefined ? undefined : currency,
    quantity: itemCount,
    orderid: orderId,
  };
}
