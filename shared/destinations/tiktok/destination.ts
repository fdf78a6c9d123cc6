import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isOfApp } from '../sdk/device.ts';
import { sentEvent, acceptsCustomerEvents } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { tiktokEvent } from './payload.ts';
import { baseUrl, choice, optionalText, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://business-api.tiktok.com';
const eventSources = ['web', 'offline', 'crm', 'app'] as const;
// TikTok accepts 1,000 events. Batches are smaller because it may refuse a whole request without naming the bad event.
const batchEventsMax = 100;

const settings = {
  pixelCode: requiredText({
    label: 'Event source ID',
    placeholder: 'C1A2B3C4D5E6F7',
    sublabel: 'Pixel code (web), ID of an offline or CRM event set, or TikTok app ID.',
    example: 'C1A2B3C4D5E6F7',
  }),
  appId: optionalText({
    label: 'TikTok app ID',
    placeholder: '7012345678901234567',
    sublabel: 'If the ID above is a pixel, app events go to this app. If empty, they go to the pixel.',
  }),
  accessToken: token({
    label: 'Access token',
    sublabel: 'From TikTok Events Manager.',
    example: 'example',
  }),
  eventSource: choice({
    label: 'Event source',
    options: eventSources,
    sublabel: 'The type of the ID above.',
    fallback: 'web',
    example: 'web',
  }),
  testEventCode: optionalText({
    label: 'Test event code',
    placeholder: 'TEST12345',
    sublabel: 'If set, events appear in the Test Events tool only.',
  }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * TikTok Events API 2.0: `POST /open_api/v1.3/event/track/`, events of one event source.
 * https://business-api.tiktok.com/portal/docs?id=1771100865818625 (report events),
 * https://business-api.tiktok.com/portal/docs?id=1771101303285761 (parameters of web events). The event id is
 * `event_id`, which deduplicates against the browser pixel. `limited_data_use` is sent under the same name.
 */
export const tiktok = defineDestination({
  id: 'TikTok',
  label: 'TikTok Events API',
  settings,
  exampleSuccess: { status: 200, body: '{"code":0,"message":"OK"}' },
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: 1_000 },
    deduplicatesBy: 'event_id',
    errors: 'a code in a 200 for the whole request; an invalid row by its index in the message',
    limitedUse: 'limited_data_use: true',
    sources: ['https://business-api.tiktok.com/portal/docs?id=1771100865818625'],
    checked: '2026-11-22',
    version: { name: 'v1.3', ends: undefined },
    namesElsewhere: ['TikTok Conversions', 'TIKTOK_ADS', 'TIKTOK_ADS_OFFLINE_EVENTS', 'TikTok Pixel'],
  },
  loadPlatform: async () => (await import('./platform.ts')).tiktokPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/open_api/v1.3/event/track/`;
  const headers = { 'access-token': given.accessToken };
  const appId = given.appId?.trim();
  const sourceOf = (event: OutboundEvent): string =>
    given.eventSource === 'web' && appId !== undefined && isOfApp(sentEvent(event)) ? 'app' : given.eventSource;
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    // A request declares its event source once, for all its events.
    groupOf: sourceOf,
    buildRequest(events) {
      const [first] = events;
      const source = first === undefined ? given.eventSource : sourceOf(first);
      const id = source === given.eventSource ? given.pixelCode.trim() : appId;
      const data = events.map((event) => tiktokEvent(sentEvent(event, given), source));
      const body = { event_source: source, event_source_id: id, test_event_code: given.testEventCode, data };
      return postJson({ url, headers, body, events });
    },
    readAnswer(answer, events) {
      return answer.status < 300 ? answeredCode(answer, events.length) : undefined;
    },
  };
}

/**
 * Outcomes by the `code` in the body of TikTok's response, which is always a 200. If the message names the invalid
 * event (`Batch.3.properties…`), that event is refused; TikTok accepted none of the others, which are retried. Events
 * may be sent again, because TikTok deduplicates them (https://ads.tiktok.com/help/article/event-deduplication).
 */
function answeredCode(answer: OutboundAnswer, count: number): readonly Outcome[] {
  const body = jsonAnswer(answer);
  const code = body?.['code'];
  const outcome = typeof code === 'number' ? outcomeOfCode(code) : noCode;
  const culprit = code === invalidParameter ? culpritOf(body?.['message']) : undefined;
  if (culprit === undefined || culprit >= count) return Array.from({ length: count }, () => outcome);
  return Array.from({ length: count }, (_, index): Outcome =>
    index === culprit
      ? { kind: 'reject', reason: `code ${invalidParameter}` }
      : { kind: 'retry', reason: 'another event of the same request was refused' },
  );
}

// A 200 without a code confirms nothing.
const noCode: Outcome = { kind: 'retry', reason: 'the response has no code' };

// Codes as in tiktok_code.py of https://github.com/tiktok/tiktok-business-api-sdk.
const partialSuccess = 20_001;
const invalidParameter = 40_002;
const throttling: ReadonlySet<number> = new Set([40_100, 40_132, 61_000]);
/**
 * Codes for a missing permission for the event source, for a token that is missing, expired, invalid or revoked, and
 * for an app or a developer that TikTok does not admit.
 */
const ofAccess: ReadonlySet<number> = new Set([
  40_001, 40_102, 40_104, 40_105, 40_113, 40_117, 40_118, 40_124, 40_125, 40_130,
]);

// Codes from 50000 on are errors of TikTok's servers.
function outcomeOfCode(code: number): Outcome {
  if (code === 0) return { kind: 'delivered' };
  const reason = `code ${code}`;
  if (throttling.has(code)) return { kind: 'retry', reason, isThrottled: true };
  if (ofAccess.has(code)) return { kind: 'retry', reason, refusesAccess: true };
  if (code >= 50_000) return { kind: 'retry', reason };
  return { kind: 'reject', reason, unnamed: code === partialSuccess ? 'some' : 'any' };
}

function culpritOf(message: unknown): number | undefined {
  if (typeof message !== 'string') return undefined;
  const index = /^(?:batch|data)\W{1,2}(\d{1,4})\b/i.exec(message.trim())?.[1];
  return index === undefined ? undefined : Number(index);
}
