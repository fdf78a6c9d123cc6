import type { JsonObject } from '../../process/json.ts';
import { isJsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { tokenSetting } from '../sdk/settings.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { pinterestEvent } from './payload.ts';
import { postJson } from '../sdk/http.ts';
import { sentEvent } from '../sdk/event.ts';
import { takesCustomerEvents } from '../sdk/event.ts';
import { choiceSetting, textSetting } from '../sdk/settings.ts';

const standardUrl = 'https://api.pinterest.com';
const actionSources = ['web', 'offline'] as const;
const batchEventsMax = 1_000;

/**
 * Pinterest API for Conversions: `POST /v5/ad_accounts/{id}/events`, up to 1,000 events, answered row by row.
 * https://developers.pinterest.com/docs/api/v5/events-create. The event's own id is `event_id`, which deduplicates
 * against the Pinterest tag.
 */
export const pinterest = defineDestination({
  descriptor: {
    id: 'Pinterest',
    label: 'Pinterest API for Conversions',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'adAccountId',
        label: 'Ad account ID',
        placeholder: '549755885175',
        sublabel: null,
        required: true,
      },
      {
        type: 'Secret',
        key: 'conversionToken',
        label: 'Conversion access token',
        placeholder: '',
        sublabel: 'Generated in Ads Manager, Conversions.',
        required: true,
      },
      {
        type: 'Select',
        key: 'actionSource',
        label: 'Action source',
        options: actionSources.map((value) => ({ label: value, value })),
        sublabel: 'Where events happen.',
        required: null,
        defaultValue: 'web',
      },
      {
        type: 'Switch',
        key: 'testMode',
        label: 'Test mode',
        required: null,
        sublabel: 'Events are checked and shown in Ads Manager, but not recorded.',
        defaultValue: false,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { adAccountId: '549755885175', conversionToken: 'example', actionSource: 'web', testMode: false },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const account = encodeURIComponent(textSetting(settings, 'adAccountId').trim());
  const test = settings['testMode'] === true ? '?test=true' : '';
  const url = `${readBaseUrl(settings, standardUrl)}/v5/ad_accounts/${account}/events${test}`;
  const headers = { authorization: `Bearer ${tokenSetting(settings, 'conversionToken')}` };
  const actionSource = choiceSetting(settings, 'actionSource', actionSources, 'web');
  return {
    batchEventsMax,
    takes: takesCustomerEvents,
    buildRequest(events) {
      const data = events.map((event) => pinterestEvent(sentEvent(event), actionSource));
      return postJson({ url, headers, body: { data }, events });
    },
    readAnswer(answer, events) {
      const rows = answer.status === 200 || answer.status === 422 ? answeredRows(answer) : undefined;
      return rows?.length === events.length ? rows : undefined;
    },
  };
}

/** Rows come in the order of the events: at the top of a 200, in the details of a 422 (not all were processed). */
function answeredRows(answer: OutboundAnswer): readonly Outcome[] | undefined {
  const body = jsonAnswer(answer);
  const details = body?.['details'];
  const rows = body?.['events'] ?? (isJsonObject(details) ? details['events'] : undefined);
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row: unknown): Outcome => {
    const isProcessed = isJsonObject(row) && row['status'] === 'processed';
    return isProcessed ? { kind: 'delivered' } : { kind: 'reject', reason: 'the event failed to be processed' };
  });
}
