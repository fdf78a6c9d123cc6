import { defineDestination } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, choice, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { axonEvent, axonName } from './payload.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const batchEventsMax = 100;

const settings = {
  eventKey: requiredText({
    label: 'Event key',
    placeholder: '0a1b2c3d-…',
    sublabel: 'The pixel ID, from Account, General, Keys.',
    example: '0a1b2c3d-0000-4000-8000-000000000001',
  }),
  apiKey: token({
    label: 'Conversion API key',
    sublabel: 'From the same page, or from your AppLovin representative.',
    example: 'example',
  }),
  eventSource: choice({
    label: 'Event source',
    sublabel: 'Where events happen.',
    options: ['web', 'app'],
    fallback: 'web',
    example: 'web',
  }),
  restricted: toggle({
    label: 'Restricted lead generation',
    sublabel:
      'For advertisers that AppLovin restricts: sends only page views and leads, and only the domain of page addresses.',
  }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl('https://b.applovin.com'),
};

/**
 * AppLovin Axon, Conversion API: `POST /v1/event?pixel_id={event key}`, up to 100 events, accepted or refused as a
 * whole. https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api; for restricted
 * advertisers
 * https://support.axon.ai/en/growth/promoting-your-websites/api/conversion-api-for-restricted-lead-generation. AppLovin
 * has no custom events, so other events are skipped. The event id is `dedupe_id`, which deduplicates against the pixel.
 */
export const appLovin = defineDestination({
  id: 'AppLovin',
  label: 'AppLovin Axon Conversion API',
  settings,
  facts: {
    sends: 'Events that AppLovin has a name for',
    limits: { events: 100 },
    deduplicatesBy: 'dedupe_id',
    errors: 'the whole request because of one bad event',
    sources: ['https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api'],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).appLovinPlatform,
  exampleProperties: { products: [{ product_id: 'tea-1', name: 'Tea', price: 42.5, quantity: 1 }] },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v1/event?pixel_id=${encodeURIComponent(given.eventKey.trim())}`;
  // AppLovin expects the key without the prefix Bearer.
  const headers = { authorization: given.apiKey };
  const { restricted, eventSource } = given;
  return {
    batchEventsMax,
    accepts: (event) => acceptsUnlimitedEvents(event) && axonName(sentEvent(event), restricted) !== undefined,
    buildRequest(outbound) {
      const events = outbound.map((event) => axonEvent(sentEvent(event, given), { restricted, eventSource }));
      return postJson({ url, headers, body: { events }, events: outbound });
    },
  };
}
