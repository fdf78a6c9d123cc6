import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { tokenSetting } from '../sdk/settings.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { postJson } from '../sdk/http.ts';
import { sentEvent } from '../sdk/event.ts';
import { takesCustomerEvents } from '../sdk/event.ts';
import { choiceSetting, optionalTextSetting, textSetting } from '../sdk/settings.ts';
import { tiktokEvent } from './payload.ts';

const standardUrl = 'https://business-api.tiktok.com';
const eventSources = ['web', 'offline', 'crm'] as const;
// TikTok takes 1,000. It may refuse all for one without naming it: fewer events share the fate of a bad one.
const batchEventsMax = 100;

/**
 * TikTok Events API 2.0: `POST /open_api/v1.3/event/track/`, events of one event source.
 * https://business-api.tiktok.com/portal/docs?id=1771100865818625 (report events),
 * https://business-api.tiktok.com/portal/docs?id=1771101303285761 (parameters of web events). The event's own id is
 * `event_id`, which deduplicates against the pixel in the browser.
 */
export const tiktok = defineDestination({
  descriptor: {
    id: 'TikTok',
    label: 'TikTok Events API',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'pixelCode',
        label: 'Event source ID',
        placeholder: 'C1A2B3C4D5E6F7',
        sublabel: 'Pixel code of the web, or ID of an offline or CRM event set.',
        required: true,
      },
      {
        type: 'Secret',
        key: 'accessToken',
        label: 'Access token',
        placeholder: '',
        sublabel: 'Generated in TikTok Events Manager.',
        required: true,
      },
      {
        type: 'Select',
        key: 'eventSource',
        label: 'Event source',
        options: eventSources.map((value) => ({ label: value, value })),
        sublabel: 'What the ID above is one of.',
        required: null,
        defaultValue: 'web',
      },
      {
        type: 'Text',
        key: 'testEventCode',
        label: 'Test event code',
        placeholder: 'TEST12345',
        sublabel: 'While it is set events appear in the Test Events tool only.',
        required: null,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { pixelCode: 'C1A2B3C4D5E6F7', accessToken: 'example', eventSource: 'web' },
  exampleSuccess: { status: 200, body: '{"code":0,"message":"OK"}' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const url = `${readBaseUrl(settings, standardUrl)}/open_api/v1.3/event/track/`;
  const headers = { 'access-token': tokenSetting(settings, 'accessToken') };
  const source = {
    event_source: choiceSetting(settings, 'eventSource', eventSources, 'web'),
    event_source_id: textSetting(settings, 'pixelCode').trim(),
    test_event_code: optionalTextSetting(settings, 'testEventCode'),
  };
  return {
    batchEventsMax,
    takes: takesCustomerEvents,
    buildRequest(events) {
      const data = events.map((event) => tiktokEvent(sentEvent(event)));
      return postJson({ url, headers, body: { ...source, data }, events });
    },
    readAnswer(answer, events) {
      return answer.status < 300 ? answeredCode(answer, events.length) : undefined;
    },
  };
}

/**
 * TikTok answers 200 whatever it thinks: the `code` of the body tells. Where it names the event it refuses
 * (`Batch.3.properties…`), that one is refused and the others, of which it took none, are tried again.
 */
function answeredCode(answer: OutboundAnswer, count: number): readonly Outcome[] {
  const body = jsonAnswer(answer);
  const code = body?.['code'];
  const outcome = typeof code === 'number' ? outcomeOfCode(code) : noCode;
  const culprit = code === invalidParameter ? culpritOf(body?.['message']) : undefined;
  if (culprit === undefined || culprit >= count) return Array.from({ length: count }, () => outcome);
  return Array.from({ length: count }, (_, index): Outcome =>
    index === culprit ? outcome : { kind: 'retry', reason: 'another event of the same request was refused' },
  );
}

// A 200 alone says nothing. TikTok knows events by their ids, so they may come again.
const noCode: Outcome = { kind: 'retry', reason: 'the answer has no code' };
const invalidParameter = 40_002;

// 0 is success, 20001 success in part; 40100 says that too much is asked; from 50000 on it is TikTok's own trouble.
function outcomeOfCode(code: number): Outcome {
  if (code === 0 || code === 20_001) return { kind: 'delivered' };
  const reason = `code ${code}`;
  if (code === 40_100) return { kind: 'retry', reason, isThrottled: true };
  return { kind: code >= 50_000 ? 'retry' : 'reject', reason };
}

function culpritOf(message: unknown): number | undefined {
  if (typeof message !== 'string') return undefined;
  const index = /^(?:batch|data)\W{1,2}(\d{1,4})\b/i.exec(message.trim())?.[1];
  return index === undefined ? undefined : Number(index);
}
