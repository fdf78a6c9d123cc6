import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { plainCountry } from '../sdk/capi-person.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { e164Of, isHash, knownPerson, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, matching, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { deduplicationProperty } from '../sdk/reading-settings.ts';
import { deviceOf } from '../sdk/device.ts';

const batchEventsMax = 1_000;

const settings = {
  accountId: requiredText(
    { label: 'Account ID', placeholder: '123456789', sublabel: 'The number of your ad account.', example: '123456789' },
    matching(/^\d{1,15}$/, 'must be a number'),
  ),
  accessToken: token({
    label: 'Access token',
    sublabel: 'For the Conversions API, from Ads Manager.',
    example: 'example',
  }),
  deduplicationProperty: deduplicationProperty(),
  baseUrl: baseUrl('https://api.quora.com'),
};

/**
 * Quora Ads, Conversions API: `POST /ads/v0/conversions`, up to 1,000 events, as sent by
 * https://github.com/segmentio/action-destinations (destinations/quora). A 200 has a result for each row. Quora
 * receives e-mail address and phone number unhashed and hashes them itself. A name that Quora does not define becomes
 * `Generic`. The event id is `event_id`, which deduplicates against the pixel.
 */
export const quoraAds = defineDestination({
  id: 'QuoraAds',
  label: 'Quora Ads Conversions API',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 1_000 },
    deduplicatesBy: 'event_id',
    errors: 'row by row',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/quora',
    ],
    checked: '2026-11-22',
    version: { name: 'v0', ends: undefined },
    namesElsewhere: ['QUORA_PIXEL'],
  },
  loadPlatform: async () => (await import('./platform.ts')).quoraAdsPlatform,
  exampleSuccess: {
    status: 200,
    body: '{"events_received":1,"events_errored":0,"events":[{"index":0,"status":"OK"}]}',
  },
  prepare,
});

const standardName = platformEventNames('QuoraAds');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/ads/v0/conversions`;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  const accountId = Number(given.accountId);
  return {
    batchEventsMax,
    accepts: acceptsUnlimitedEvents,
    buildRequest(events) {
      const data = events.map((event) => conversion(sentEvent(event, given)));
      return postJson({ url, headers, body: { account_id: accountId, data }, events });
    },
    readAnswer: (answer, events) => readRows(answer, events.length),
  };
}

function conversion(event: SentEvent): JsonObject {
  const click = browserId(event, ['qclid', '_qclid']);
  const user = person(event);
  if (click === undefined && user === undefined && deviceOf(event).advertisingId === undefined) {
    throw new UnfitEventError('the event has no identifier that Quora could match');
  }
  const { userAgent, referrer } = browserContext(event);
  return {
    conversion: {
      event_name: standardName(event) ?? 'Generic',
      // Quora expects microseconds.
      timestamp: event.timeMs * 1_000,
      event_id: event.deduplicationId,
      ...present({ click_id: click, value: commerceOf(event).value }),
    },
    user,
    device: present({
      mobile_device_id: deviceOf(event).advertisingId,
      user_agent: userAgent,
      language: textOf(event.context['locale']) ?? textOf(event.context['browser_language']),
      referer: referrer,
    }),
  };
}

function person(event: SentEvent): JsonObject | undefined {
  const known = knownPerson(event);
  const { email, phone, city, state, zip } = known;
  const { ip } = browserContext(event);
  const matched = present({
    email: email === undefined ? undefined : normaliseEmail(email),
    phone_number: phone === undefined ? undefined : e164Of(known)(phone),
    ip,
  });
  return matched === undefined
    ? undefined
    : {
        ...matched,
        ...present({ country: plainCountry(event), region: plain(state), city: plain(city), postal_code: plain(zip) }),
      };
}

function plain(text: string | undefined): string | undefined {
  return text === undefined || isHash(text) ? undefined : text;
}

/** Outcomes by row; Quora accepted the rows that the response does not list. */
function readRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const rows = answer.status === 200 ? jsonAnswer(answer)?.['events'] : undefined;
  if (!Array.isArray(rows)) return undefined;
  const refused = rows.filter((row) => isJsonObject(row) && row['status'] !== 'OK').filter(isJsonObject);
  return rowOutcomes(count, new Map(refused.map((row) => [Number(row['index']), rowRefusal(row['error_code'])])));
}
