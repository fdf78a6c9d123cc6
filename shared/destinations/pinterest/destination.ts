import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, acceptsCustomerEvents } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, choice, optionalText, requiredText, SettingError, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { pinterestEvent, pinterestName } from './payload.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://api.pinterest.com';
const actionSources = ['web', 'offline'] as const;
const batchEventsMax = 1_000;

const settings = {
  adAccountId: requiredText({ label: 'Ad account ID', placeholder: '549755885175', example: '549755885175' }),
  conversionToken: token({
    label: 'Conversion access token',
    sublabel: 'From Ads Manager, Conversions.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen.',
    options: actionSources,
    fallback: 'web',
    example: 'web',
  }),
  appId: optionalText({
    label: 'App ID',
    placeholder: '429047995',
    sublabel: 'App ID in the store, for app events.',
  }),
  ownEvents: optionalText(
    {
      label: 'Own event types',
      placeholder: 'level_completed, quote_requested',
      sublabel:
        'Your user-defined event types, separated by commas. Other events without a Pinterest name are sent as custom.',
      example: 'level_completed',
    },
    readOwnEvents,
  ),
  testMode: toggle({
    label: 'Test mode',
    sublabel: 'Events are validated and shown in Ads Manager, but not recorded.',
  }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Pinterest API for Conversions: `POST /v5/ad_accounts/{id}/events`, up to 1,000 events, with a result for each row.
 * https://developers.pinterest.com/docs/api/v5/events-create. The event id is `event_id`, which deduplicates against
 * the Pinterest tag. An event with `limited_data_use` is sent as opted out, with the type LDP
 * (https://help.pinterest.com/en/business/article/limited-data-processing).
 */
export const pinterest = defineDestination({
  id: 'Pinterest',
  label: 'Pinterest API for Conversions',
  settings,
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: 1_000 },
    deduplicatesBy: 'event_id',
    errors: 'row by row, in order',
    limitedUse: 'opt_out: true and opt_out_type: LDP',
    sources: ['https://developers.pinterest.com/docs/api/v5/events-create'],
    checked: '2026-11-22',
    version: { name: 'v5', ends: undefined },
    notCarried: ['partner_name: Pinterest accepts it only from agreed partners'],
    namesElsewhere: ['Pinterest Conversions API', 'PINTEREST_TAG'],
  },
  loadPlatform: async () => (await import('./platform.ts')).pinterestPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const account = encodeURIComponent(given.adAccountId.trim());
  const test = given.testMode ? '?test=true' : '';
  const url = `${given.baseUrl}/v5/ad_accounts/${account}/events${test}`;
  const headers = { authorization: `Bearer ${given.conversionToken}` };
  const { ownEvents = new Set() } = given;
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const data = events.map((event) => pinterestEvent(sentEvent(event, given), given, ownEvents));
      return postJson({ url, headers, body: { data }, events });
    },
    readAnswer(answer, events) {
      const rows = answer.status === 200 || answer.status === 422 ? answeredRows(answer) : undefined;
      return rows?.length === events.length ? rows : undefined;
    },
  };
}

function readOwnEvents(text: string, key: string): ReadonlySet<string> {
  const names = text.split(',').flatMap((name) => name.trim() || []);
  if (!names.every((name) => pinterestName.test(name))) {
    throw new SettingError(key, 'must be event types in lower case with underscores, separated by commas');
  }
  return new Set(names);
}

/**
 * Outcomes by row, in the order of the events. The rows are at the top level of a 200, and in the details of a 422,
 * which means that Pinterest did not process all of them.
 */
function answeredRows(answer: OutboundAnswer): readonly Outcome[] | undefined {
  const body = jsonAnswer(answer);
  const details = body?.['details'];
  const rows = body?.['events'] ?? (isJsonObject(details) ? details['events'] : undefined);
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row: unknown): Outcome => {
    const isProcessed = isJsonObject(row) && row['status'] === 'processed';
    return isProcessed ? { kind: 'delivered' } : { kind: 'reject', reason: 'processing of the event failed' };
  });
}
