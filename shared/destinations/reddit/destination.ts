import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, acceptsCustomerEvents } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, choice, optionalText, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { pairList } from '../sdk/setting-lists.ts';
import { redditEvents, redditActionSources, redditTrackingType } from './payload.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://ads-api.reddit.com';
const batchEventsMax = 1_000;

const settings = {
  pixelId: requiredText({
    label: 'Pixel ID',
    placeholder: 'a2_example',
    sublabel: 'From Events Manager.',
    example: 'a2_example',
  }),
  conversionToken: token({
    label: 'Conversion access token',
    sublabel: 'From Events Manager, Conversions API.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen.',
    options: redditActionSources,
    fallback: 'WEBSITE',
    example: 'WEBSITE',
  }),
  eventTypes: pairList({
    label: 'Event types',
    placeholder: 'Trial Started = SIGN_UP, Order Completed = PURCHASE, Order Completed = LEAD',
    sublabel:
      'Event names, each with the tracking type to send in place of the usual one. An event may have several types.',
    value: redditTrackingType,
  }),
  testId: optionalText({
    label: 'Test ID',
    placeholder: 't2_example',
    sublabel: 'If set, events appear in the event testing tool of Events Manager.',
  }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Reddit Ads, Conversions API version 3: `POST /api/v3/pixels/{pixel}/conversion_events`, up to 1,000 events,
 * accepted or refused as a whole. https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events. The event
 * id is `conversion_id`, which deduplicates against the browser pixel. An event with `limited_data_use` is sent with
 * the processing mode LDU.
 */
export const reddit = defineDestination({
  id: 'Reddit',
  label: 'Reddit Conversions API',
  settings,
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: 1_000, ageDays: 7 },
    deduplicatesBy: 'conversion_id',
    errors: 'status of the whole request',
    limitedUse: "data_processing_options: {modes: ['LDU']}, with country and region",
    sources: ['https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events'],
    checked: '2026-11-22',
    version: { name: 'v3', ends: undefined },
    namesElsewhere: ['Reddit Conversions API', 'REDDIT_PIXEL'],
  },
  loadPlatform: async () => (await import('./platform.ts')).redditPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const pixel = encodeURIComponent(given.pixelId.trim());
  const url = `${given.baseUrl}/api/v3/pixels/${pixel}/conversion_events`;
  const headers = { authorization: `Bearer ${given.conversionToken}` };
  const actionSource = given.actionSource;
  const testId = given.testId;
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    buildRequest(outbound, nowMs) {
      const events = outbound.flatMap((event) =>
        redditEvents(sentEvent(event, given), { actionSource, eventTypes: given.eventTypes }, nowMs),
      );
      if (events.length > batchEventsMax) throw new UnfitEventError(`more than ${batchEventsMax} conversions`);
      return postJson({ url, headers, body: { data: { test_id: testId, events } }, events: outbound });
    },
  };
}
