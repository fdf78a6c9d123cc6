import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { tokenSetting } from '../sdk/settings.ts';
import { postJson } from '../sdk/http.ts';
import { redditEvent } from './payload.ts';
import { sentEvent } from '../sdk/event.ts';
import { takesCustomerEvents } from '../sdk/event.ts';
import { choiceSetting, optionalTextSetting, textSetting } from '../sdk/settings.ts';

const standardUrl = 'https://ads-api.reddit.com';
const actionSources = ['WEBSITE', 'APP', 'PHYSICAL_STORE', 'OTHER'] as const;
const batchEventsMax = 1_000;

/**
 * Reddit Ads, Conversions API version 3: `POST /api/v3/pixels/{pixel}/conversion_events`, up to 1,000 events, taken or
 * refused as a whole. https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events. The event's own id is
 * `conversion_id`, which deduplicates against the pixel in the browser.
 */
export const reddit = defineDestination({
  descriptor: {
    id: 'Reddit',
    label: 'Reddit Conversions API',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'pixelId',
        label: 'Pixel ID',
        placeholder: 'a2_example',
        sublabel: 'From Events Manager.',
        required: true,
      },
      {
        type: 'Secret',
        key: 'conversionToken',
        label: 'Conversion access token',
        placeholder: '',
        sublabel: 'Generated in Events Manager, Conversions API.',
        required: true,
      },
      {
        type: 'Select',
        key: 'actionSource',
        label: 'Action source',
        options: actionSources.map((value) => ({ label: value, value })),
        sublabel: 'Where events happen.',
        required: null,
        defaultValue: 'WEBSITE',
      },
      {
        type: 'Text',
        key: 'testId',
        label: 'Test ID',
        placeholder: 't2_example',
        sublabel: 'While it is set events appear in the event testing of Events Manager.',
        required: null,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { pixelId: 'a2_example', conversionToken: 'example', actionSource: 'WEBSITE' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const pixel = encodeURIComponent(textSetting(settings, 'pixelId').trim());
  const url = `${readBaseUrl(settings, standardUrl)}/api/v3/pixels/${pixel}/conversion_events`;
  const headers = { authorization: `Bearer ${tokenSetting(settings, 'conversionToken')}` };
  const actionSource = choiceSetting(settings, 'actionSource', actionSources, 'WEBSITE');
  const testId = optionalTextSetting(settings, 'testId');
  return {
    batchEventsMax,
    takes: takesCustomerEvents,
    buildRequest(outbound, nowMs) {
      const events = outbound.map((event) => redditEvent(sentEvent(event), actionSource, nowMs));
      return postJson({ url, headers, body: { data: { test_id: testId, events } }, events: outbound });
    },
  };
}
