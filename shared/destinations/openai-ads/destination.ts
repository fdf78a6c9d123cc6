import { baseUrl, choice, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { openaiActionSources, openaiEvent } from './payload.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const batchEventsMax = 1_000;

const settings = {
  pixelId: requiredText({
    label: 'Pixel ID',
    placeholder: 'pixel_example',
    sublabel: 'From Ads Manager, Conversions.',
    example: 'pixel_example',
  }),
  apiKey: token({
    label: 'Conversions API key',
    sublabel: 'From Ads Manager, Conversions. An Advertiser API key does not work.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen. Web events need their page address.',
    options: openaiActionSources,
    fallback: 'web',
    example: 'web',
  }),
  validateOnly: toggle({ label: 'Validate only', sublabel: 'Events are validated but not recorded.' }),
  ...adSettings,
  baseUrl: baseUrl('https://bzr.openai.com'),
};

/**
 * OpenAI Ads, Conversions API: `POST /v1/events?pid={pixel}`, up to 1,000 events no older than 7 days, accepted or
 * refused as a whole. https://developers.openai.com/ads/conversions-api; events and their data:
 * https://developers.openai.com/ads/supported-events. OpenAI deduplicates by event id and type, also against the
 * pixel.
 */
export const openaiAds = defineDestination({
  id: 'OpenAIAds',
  label: 'OpenAI Ads Conversions API',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 1_000, ageDays: 7 },
    deduplicatesBy: 'id',
    errors: 'the whole request because of one bad event',
    limitedUse: 'opt_out: true',
    sources: [
      'https://developers.openai.com/ads/conversions-api',
      'https://developers.openai.com/ads/supported-events',
    ],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).openaiAdsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v1/events?pid=${encodeURIComponent(given.pixelId.trim())}`;
  const headers = { authorization: `Bearer ${given.apiKey}` };
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    buildRequest(outbound, nowMs) {
      const events = outbound.map((event) => openaiEvent(sentEvent(event, given), given.actionSource, nowMs));
      return postJson({ url, headers, body: { validate_only: given.validateOnly, events }, events: outbound });
    },
  };
}
