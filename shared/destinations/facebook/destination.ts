import { defineDestination } from '../sdk/destination.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, acceptsCustomerEvents, propertiesOf } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, choice, matching, optionalText, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { facebookOutcome } from './errors.ts';
import { graphApi } from './graph-api.ts';
import { facebookActionSources, facebookEvent } from './payload.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const batchEventsMax = 1_000;

const settings = {
  pixelId: requiredText({
    label: 'Pixel ID',
    placeholder: '1234567890',
    sublabel: 'The pixel or dataset, from Events Manager.',
    example: '1234567890',
  }),
  pixelProperty: optionalText({
    label: 'Pixel property',
    placeholder: 'pixel_id',
    sublabel:
      'The event property with a pixel or dataset that is used instead of the one above. The token must have access to all of them.',
  }),
  accessToken: token({
    label: 'Access token',
    sublabel: 'From Events Manager, Settings, Conversions API.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel:
      'Where events happen, unless an event has a property action_source. Website needs the page and browser in the event; without them system_generated is sent.',
    options: facebookActionSources,
    fallback: 'website',
    example: 'website',
  }),
  testEventCode: optionalText({
    label: 'Test event code',
    placeholder: 'TEST12345',
    sublabel: 'If set, events appear in the Test Events tool.',
  }),
  apiVersion: optionalText(
    { label: 'API version', placeholder: graphApi.version, example: 'v27.0' },
    matching(/^v\d{1,3}\.\d$/, `must be a version like ${graphApi.version}`),
  ),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(graphApi.url),
};

/**
 * Facebook and Instagram, Conversions API of Meta: `POST /{version}/{pixel}/events` of the Graph API.
 * https://developers.facebook.com/docs/marketing-api/conversions-api/using-the-api, with the parameters of
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters. The event id is `event_id`, which
 * deduplicates against the browser pixel. An event with `limited_data_use` is sent with the option LDU
 * (https://developers.facebook.com/docs/marketing-apis/data-processing-options).
 */
export const facebook = defineDestination({
  id: 'Facebook',
  label: 'Facebook Conversions API',
  settings,
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: 1_000, ageDays: 7 },
    deduplicatesBy: 'event_id',
    errors: 'by the error code, for the whole request',
    limitedUse:
      "data_processing_options: ['LDU'], with country and state; Meta applies it to people in the US states that it lists",
    sources: [
      'https://developers.facebook.com/docs/marketing-api/conversions-api/using-the-api',
      'https://developers.facebook.com/docs/graph-api/guides/error-handling',
    ],
    checked: '2026-11-27',
    version: { name: graphApi.version, ends: undefined },
    notCarried: ['partner_agent: it identifies a partner certified by Meta'],
    namesElsewhere: [
      'Facebook Conversions API (Actions)',
      'FACEBOOK_CONVERSIONS',
      'FACEBOOK_PIXEL',
      'Meta Conversions API',
    ],
  },
  loadPlatform: async () => (await import('./platform.ts')).facebookPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { apiVersion = graphApi.version, actionSource, testEventCode } = given;
  const pixelOf = (event: OutboundEvent): string => pixelIn(event, given.pixelProperty) ?? given.pixelId.trim();
  const headers = { authorization: `Bearer ${given.accessToken}` };
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    groupOf: pixelOf,
    buildRequest(events, nowMs) {
      const [first] = events;
      const pixelId = encodeURIComponent(first === undefined ? given.pixelId.trim() : pixelOf(first));
      const url = `${given.baseUrl}/${apiVersion}/${pixelId}/events`;
      const data = events.map((event) => facebookEvent(sentEvent(event, given), actionSource, nowMs));
      return postJson({ url, headers, body: { data, test_event_code: testEventCode }, events });
    },
    readAnswer(answer, events) {
      const outcome = answer.status < 300 ? undefined : facebookOutcome(answer);
      return outcome === undefined ? undefined : events.map(() => outcome);
    },
  };
}

/** The pixel id in this property of the event; undefined if it is missing, or is not a number of up to 20 digits. */
function pixelIn(event: OutboundEvent, property: string | undefined): string | undefined {
  const given = property === undefined ? undefined : textForm(propertiesOf(event)[property.trim()]);
  return given !== undefined && /^\d{1,20}$/.test(given.trim()) ? given.trim() : undefined;
}
