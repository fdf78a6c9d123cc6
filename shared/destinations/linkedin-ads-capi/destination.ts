import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer, outcomeOfStatus } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { conversionIdOf, eventList, otherConversions } from '../sdk/event-list.ts';
import { sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { baseUrl, matching, optionalText, requiredText, SettingError, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { linkedinEvent } from './payload.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://api.linkedin.com';
const standardVersion = '202607';
const conversionUrn = 'urn:lla:llaPartnerConversion:';
// LinkedIn accepts 5,000 events per request; 1,000 stay well below 1 MB.
const batchEventsMax = 1_000;

const settings = {
  conversionId: requiredText(
    {
      label: 'Conversion rule ID',
      placeholder: '104012',
      sublabel: 'From a rule with the Conversions API as its method.',
      example: '104012',
    },
    readConversionId,
  ),
  accessToken: token({ label: 'Access token', sublabel: 'Needs the permission rw_conversions.', example: 'example' }),
  eventNames: eventList(),
  otherConversions: otherConversions(/^\d{1,20}$/, 'Signed Up = 104013'),
  apiVersion: optionalText(
    {
      label: 'API version',
      placeholder: standardVersion,
      sublabel: 'LinkedIn retires each version about a year after its month.',
      example: '202607',
    },
    matching(/^20\d{4}$/, `must be a month like ${standardVersion}`),
  ),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * LinkedIn Ads, Conversions API: `POST /rest/conversionEvents` as a Rest.li batch.
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api (adding multiple
 * conversion events in a batch). LinkedIn has conversion rules in place of event names. LinkedIn has no field for
 * limited use, so events with `limited_data_use` are skipped.
 */
export const linkedinAdsCapi = defineDestination({
  id: 'LinkedInAdsCAPI',
  label: 'LinkedIn Ads Conversions API',
  settings,
  facts: {
    sends: 'The events of its conversion rules',
    limits: { events: 5_000, ageDays: 90 },
    deduplicatesBy: 'eventId',
    errors: 'a status for each row; an invalid row by its index in the message of a 422',
    sources: ['https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api'],
    checked: '2026-11-22',
    version: { name: standardVersion, ends: '2027-07-15' },
    namesElsewhere: ['LinkedIn Conversions API', 'LINKEDIN_ADS', 'LINKEDIN_INSIGHT_TAG'],
  },
  loadPlatform: async () => (await import('./platform.ts')).linkedinPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { conversionId: id, apiVersion: version = standardVersion } = given;
  const own = { names: given.eventNames, id };
  const ruleOf = (event: OutboundEvent) => conversionIdOf(event, own, given.otherConversions);
  const url = `${given.baseUrl}/rest/conversionEvents`;
  const headers = {
    authorization: `Bearer ${given.accessToken}`,
    'linkedin-version': version,
    'x-restli-protocol-version': '2.0.0',
    'x-restli-method': 'BATCH_CREATE',
  };
  return {
    batchEventsMax,
    retriesRows: true,
    accepts: (event) => ruleOf(event) !== undefined && !isLimited(sentEvent(event)),
    buildRequest(events, nowMs) {
      const elements = events.map((event) =>
        linkedinEvent(sentEvent(event, given), conversionUrn + (ruleOf(event) ?? id), nowMs),
      );
      return postJson({ url, headers, body: { elements }, events });
    },
    readAnswer(answer, events) {
      if (answer.status === 422) return refusedRows(answer, events.length);
      const rows = answer.status < 300 ? answeredRows(answer) : undefined;
      return rows?.length === events.length ? rows : undefined;
    },
  };
}

function readConversionId(text: string, key: string): string {
  const id = text.trim().replace(conversionUrn, '');
  if (!/^\d{1,20}$/.test(id)) throw new SettingError(key, 'must be a number');
  return id;
}

function answeredRows(answer: OutboundAnswer): readonly Outcome[] | undefined {
  const elements = jsonAnswer(answer)?.['elements'];
  if (!Array.isArray(elements)) return undefined;
  return elements.map((element: unknown) => {
    const status = isJsonObject(element) ? element['status'] : undefined;
    return outcomeOfStatus(typeof status === 'number' ? status : 500);
  });
}

/**
 * If one event is invalid, LinkedIn refuses the whole batch with a 422 whose message names the invalid events
 * (`Index: 3, ERROR :: …`). Invalid events are refused; the others are retried.
 */
function refusedRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const message = jsonAnswer(answer)?.['message'];
  if (typeof message !== 'string') return undefined;
  const bad = new Set(Array.from(message.matchAll(/Index: (\d{1,4}), ERROR ::/g), ([, index]) => Number(index)));
  if (bad.size === 0) return undefined;
  return Array.from({ length: count }, (_, index): Outcome =>
    bad.has(index)
      ? { kind: 'reject', reason: 'status 422' }
      : { kind: 'retry', reason: 'another event of the same request was refused' },
  );
}
