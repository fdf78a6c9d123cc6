import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { baseUrl, choice, matching, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { uetEvent } from './payload.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const standardUrl = 'https://capi.uet.microsoft.com';
const batchEventsMax = 1_000;
const bodyBytesMax = 1_000_000;

const settings = {
  tagId: requiredText(
    {
      label: 'UET tag ID',
      placeholder: '97012345',
      sublabel: 'From Conversion tracking, UET tag.',
      example: '97012345',
    },
    matching(/^\d{1,20}$/, 'must be a number'),
  ),
  accessToken: token({
    label: 'Conversions API token',
    sublabel: 'From the UET tag, under Use Conversions API. Microsoft enables it on request.',
    example: 'example',
  }),
  adStorageConsent: choice({
    label: 'Consent',
    options: [
      { label: 'Granted', value: 'G' },
      { label: 'Denied', value: 'D' },
    ],
    sublabel: "For the storage of advertising data, unless the event's property consent has ad_storage.",
    fallback: 'G',
    example: 'G',
  }),
  ...adSettings,
  baseUrl: baseUrl(standardUrl),
};

/**
 * Microsoft Advertising, UET Conversions API: `POST /v1/{tag}/events`.
 * https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration; response rows as in
 * segmentio/action-destinations, ms-bing-capi, limits as in
 * https://docs.tealium.com/server-side-connectors/microsoft-uet-conversion-api-connector. The event id is `eventId`,
 * which deduplicates against the UET tag on the page.
 */
export const bingAds = defineDestination({
  id: 'BingAds',
  label: 'Microsoft Advertising Conversions API',
  settings,
  facts: {
    sends: 'Every customer event; page views as page loads',
    limits: { events: batchEventsMax, bytes: bodyBytesMax },
    deduplicatesBy: 'eventId',
    errors: 'rows by index, in the details of the error',
    limitedUse: 'adStorageConsent: D',
    consentTypes: ['ad_storage'],
    sources: [
      'https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration',
      'https://docs.tealium.com/server-side-connectors/microsoft-uet-conversion-api-connector',
    ],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
    namesElsewhere: ['Microsoft Bing CAPI', 'Ms Bing Capi', 'BINGADS_OFFLINE_CONVERSIONS', 'Microsoft Advertising'],
  },
  loadPlatform: async () => (await import('./platform.ts')).bingAdsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v1/${given.tagId}/events`;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const data = events.map((event) => uetEvent(sentEvent(event, given), given.adStorageConsent));
      const body = { data, dataProvider: 'Sluice', continueOnValidationError: true };
      return withinBytes(postJson({ url, headers, body, events }), bodyBytesMax);
    },
    readAnswer: (answer, events) => refusedRows(answer, events.length),
  };
}

/**
 * Reads the outcome of each row: Microsoft refused the rows in the error's details, and accepted all others, even those
 * with warnings.
 */
function refusedRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  if (answer.status >= 500 || answer.status === 401 || answer.status === 403 || answer.status === 429) return undefined;
  const error = jsonAnswer(answer)?.['error'];
  const details = isJsonObject(error) ? error['details'] : undefined;
  if (!Array.isArray(details)) return undefined;
  const refusals = new Map(
    details
      .filter(isJsonObject)
      .filter(({ index, isWarning }) => isWarning !== true && Number.isInteger(index))
      .map(({ index, propertyName }) => [Number(index), rowRefusal(propertyName)] as const),
  );
  const isOfBatch = [...refusals.keys()].every((index) => index >= 0 && index < count);
  if (!isOfBatch || (refusals.size === 0 && answer.status >= 300)) return undefined;
  return rowOutcomes(count, refusals);
}
