import type { JsonObject } from '../process/json.ts';
import { isJsonObject } from '../process/json.ts';
import { baseUrlSetting, readBaseUrl } from './base-url.ts';
import { defineDestination, SettingError } from './define.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from './define.ts';
import { tokenSetting } from './token-setting.ts';
import { jsonAnswer, outcomeOfStatus } from './json-answer.ts';
import { linkedinEvent } from './linkedin-event.ts';
import { postJson } from './post-json.ts';
import { sentEvent } from './sent-event.ts';
import { takesCustomerEvents } from './service-events.ts';
import { optionalTextSetting, textSetting } from './settings.ts';

const standardUrl = 'https://api.linkedin.com';
const standardVersion = '202607';
const conversionUrn = 'urn:lla:llaPartnerConversion:';
// LinkedIn takes 5,000; a request of these stays well under a megabyte.
const batchEventsMax = 1_000;

/**
 * LinkedIn Ads, Conversions API: `POST /rest/conversionEvents` as a Rest.li batch.
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api (adding multiple
 * conversion events in a batch). A conversion rule is what LinkedIn has in the place of an event's name: a destination
 * serves one.
 */
export const linkedinAdsCapi = defineDestination({
  descriptor: {
    id: 'LinkedInAdsCAPI',
    label: 'LinkedIn Ads Conversions API',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'conversionId',
        label: 'Conversion rule ID',
        placeholder: '104012',
        sublabel: 'Of a rule with the Conversions API as its method.',
        required: true,
      },
      {
        type: 'Secret',
        key: 'accessToken',
        label: 'Access token',
        placeholder: '',
        sublabel: 'With the permission rw_conversions.',
        required: true,
      },
      {
        type: 'Text',
        key: 'eventNames',
        label: 'Event names',
        placeholder: 'Order Completed, Signed Up',
        sublabel: 'The events that are this conversion, separated by commas. Without any, every event is.',
        required: null,
      },
      {
        type: 'Text',
        key: 'apiVersion',
        label: 'API version',
        placeholder: standardVersion,
        sublabel: 'LinkedIn ends each version about a year after its month.',
        required: null,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { conversionId: '104012', accessToken: 'example', apiVersion: '202607' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const id = textSetting(settings, 'conversionId').trim().replace(conversionUrn, '');
  if (!/^\d{1,20}$/.test(id)) throw new SettingError('conversionId', 'must be a number');
  const version = optionalTextSetting(settings, 'apiVersion') ?? standardVersion;
  if (!/^20\d{4}$/.test(version)) throw new SettingError('apiVersion', `must be a month like ${standardVersion}`);
  const names = eventNames(settings);
  const url = `${readBaseUrl(settings, standardUrl)}/rest/conversionEvents`;
  const headers = {
    authorization: `Bearer ${tokenSetting(settings, 'accessToken')}`,
    'linkedin-version': version,
    'x-restli-protocol-version': '2.0.0',
    'x-restli-method': 'BATCH_CREATE',
  };
  return {
    batchEventsMax,
    retriesRows: true,
    takes: (event) =>
      takesCustomerEvents(event) && (names.size === 0 || names.has(sentEvent(event).name.toLowerCase())),
    buildRequest(events, nowMs) {
      const elements = events.map((event) => linkedinEvent(sentEvent(event), conversionUrn + id, nowMs));
      return postJson({ url, headers, body: { elements }, events });
    },
    readAnswer(answer, events) {
      if (answer.status === 422) return refusedRows(answer, events.length);
      const rows = answer.status < 300 ? answeredRows(answer) : undefined;
      return rows?.length === events.length ? rows : undefined;
    },
  };
}

function eventNames(settings: JsonObject): ReadonlySet<string> {
  const list = optionalTextSetting(settings, 'eventNames') ?? '';
  return new Set(list.split(',').flatMap((name) => name.trim().toLowerCase() || []));
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
 * One bad event makes LinkedIn refuse all with a 422 whose message names the bad ones (`Index: 3, ERROR :: …`): those are
 * refused, the others tried again.
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
