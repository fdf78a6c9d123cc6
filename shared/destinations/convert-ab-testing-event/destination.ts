import type { JsonObject } from '../../runtime/json.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { batchSize, matching, optionalBaseUrl, optionalText, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const number = matching(/^\d{1,15}$/, 'must be a number');

const settings = {
  accountId: requiredText({ label: 'Account ID', placeholder: '10000000', example: '10000000' }, number),
  projectId: requiredText({ label: 'Project ID', placeholder: '10000001', example: '10000001' }, number),
  goalId: optionalText(
    {
      label: 'Goal ID',
      placeholder: '10000002',
      sublabel: 'The goal of conversions, unless the event has a goal_id.',
      example: '10000002',
    },
    number,
  ),
  conversionEvents: conversionEvents(),
  batchSize: batchSize({ max: 100, fallback: 10 }),
  baseUrl: optionalBaseUrl('https://10000001.metrics.convertexperiments.com'),
};

/**
 * Convert Experiences, server conversions: `POST /v1/track/{account}/{project}` on the project's own host, without a
 * key, as Convert's SDK sends them: https://github.com/convertcom/javascript-sdk (packages/api/src/api-manager.ts),
 * https://github.com/convertcom/javascript-sdk/wiki/tracking-conversions. Convert adds the visitor's experiences
 * (`enrichData`), and identifies the visitor by the id that Convert's script or SDK uses (`convert_visitor_id`,
 * the cookie `_conv_v`; defaults to the Sluice visitor id). A purchase carries amount, number of products and order id. There is no field
 * for the event time, and Convert deduplicates orders only.
 */
export const convertAbTestingEvent = defineDestination({
  id: 'ConvertABTestingEvent',
  label: 'Convert Experiences',
  settings,
  facts: {
    sends: 'Conversions of goals',
    limits: { events: 100 },
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://github.com/convertcom/javascript-sdk',
      'https://github.com/convertcom/javascript-sdk/wiki/tracking-conversions',
      'https://support.convert.com/hc/en-us/articles/204495429',
    ],
    checked: '2026-11-29',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).convertAbTestingEventPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { accountId, projectId } = given;
  const base = given.baseUrl ?? `https://${projectId}.metrics.convertexperiments.com`;
  const url = `${base}/v1/track/${accountId}/${projectId}`;
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => acceptsCustomerEvents(event) && given.conversionEvents(event),
    buildRequest(events) {
      const visitors = events.map((event) => visitorOf(sentEvent(event), given.goalId));
      return postJson({ url, body: { accountId, projectId, enrichData: true, source: 'sluice', visitors }, events });
    },
  };
}

function visitorOf(event: SentEvent, fallback: string | undefined): JsonObject {
  const goalId = textForm(event.properties['goal_id'])?.trim() ?? fallback;
  if (goalId === undefined || !/^\d{1,15}$/.test(goalId)) {
    throw new UnfitEventError('neither the event (goal_id) nor the destination has a goal');
  }
  const { value, orderId, itemCount } = commerceOf(event);
  const goalData = [
    { key: 'amount', value },
    { key: 'productsCount', value: itemCount },
    { key: 'transactionId', value: orderId },
  ].filter((entry) => entry.value !== undefined);
  const conversion = { eventType: 'conversion', data: { goalId } };
  // As in the SDK, the conversion comes first; its purchase data follows in a second event.
  const events =
    goalData.length === 0 ? [conversion] : [conversion, { eventType: 'conversion', data: { goalId, goalData } }];
  return { visitorId: browserId(event, ['convert_visitor_id']) ?? cookieId(event) ?? event.visitor.id, events };
}

/**
 * The visitor's id in the cookie of Convert's script, `vi:7*sc:2*…`, which has 1 for a visitor without an id.
 * https://support.convert.com/hc/en-us/articles/204495429
 */
function cookieId(event: SentEvent): string | undefined {
  const cookie = browserId(event, ['_conv_v'])?.replaceAll(/%[2-7][\da-f]/gi, decodeURIComponent);
  const id = /(?:^|\*)vi:([^*]+)/.exec(cookie ?? '')?.[1];
  return id === '1' ? undefined : id;
}
