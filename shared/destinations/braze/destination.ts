import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isIdentify, sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { address, batchSize, readBaseUrl, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { brazeAttributes, brazeEvent } from './payload.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const batch = { max: 75, fallback: 75 };

const settings = {
  baseUrl: address(
    requiredText(
      {
        label: 'REST endpoint',
        placeholder: 'https://rest.iad-01.braze.com',
        sublabel: 'Of the instance your dashboard runs on.',
        example: 'https://rest.iad-01.braze.com',
      },
      readBaseUrl,
    ),
  ),
  apiKey: token({ label: 'REST API key', sublabel: 'With the permission users.track.', example: 'example-key' }),
  batchSize: batchSize(batch),
  defaultCurrency: defaultCurrency(),
};

/**
 * Braze: `POST /users/track` with `events`, and `attributes` for $identify, at most 75 in all
 * (https://www.braze.com/docs/api/endpoints/user_data/post_user_track). Whoever has neither an external id nor an e-mail
 * address goes by a user alias with the label `sluice_visitor_id`. Orders and what leads to them are Braze's recommended
 * e-commerce events, of which it makes revenue (the older `purchases` are being phased out). Braze counts a repeated event
 * twice: it takes no id of an event.
 */
export const braze = defineDestination({
  id: 'Braze',
  label: 'Braze',
  settings,
  facts: {
    sends: 'Every event; $identify sets attributes',
    limits: { events: 75 },
    deduplicatesBy: undefined,
    errors: 'rows by list and place in the answer',
    sources: ['https://www.braze.com/docs/api/endpoints/user_data/post_user_track'],
    checked: '2026-11-22',
    namesElsewhere: ['Braze Cloud Mode (Actions)', 'Appboy'],
  },
  loadPlatform: async () => (await import('./platform.ts')).brazePlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/users/track`;
  const headers = { authorization: `Bearer ${given.apiKey}` };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => !isAboutIds(event),
    buildRequest(events) {
      const attributes = events.filter(isIdentify).map(brazeAttributes);
      const tracked = events
        .filter((event) => !isIdentify(event))
        .map((event) => brazeEvent(event, sentEvent(event, given)));
      const body = {
        ...(attributes.length === 0 ? {} : { attributes }),
        ...(tracked.length === 0 ? {} : { events: tracked }),
      };
      return postJson({ url, headers, body, events });
    },
    readAnswer,
  };
}

/** A success may name rows that were not taken, by their place in the list they stood in. */
function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const errors = answer.status >= 200 && answer.status < 300 ? jsonAnswer(answer)?.['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const lists = new Map<unknown, number[]>([
    ['attributes', []],
    ['events', []],
  ]);
  events.forEach((event, index) => lists.get(isIdentify(event) ? 'attributes' : 'events')?.push(index));
  const refusals = new Map<number, string>();
  for (const { input_array: list, index } of errors.filter(isJsonObject)) {
    const place = lists.get(list)?.[Number(index)];
    if (place !== undefined) refusals.set(place, rowRefusal(list));
  }
  return rowOutcomes(events.length, refusals);
}
