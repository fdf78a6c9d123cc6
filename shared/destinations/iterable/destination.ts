import { isJsonObject } from '../../process/json.ts';
import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting } from '../sdk/settings.ts';
import { batchSizeSetting, readBatchSize } from '../sdk/settings.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { iterableEvent, iterableKeys, iterableUser, userKey } from './payload.ts';
import type { IterableKey } from './payload.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { postJson } from '../sdk/http.ts';
import { readRegionUrl, regionSetting } from '../sdk/settings.ts';
import type { Regions } from '../sdk/settings.ts';
import { rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { isIdentify, sentEvent } from '../sdk/event.ts';
import { choiceSetting } from '../sdk/settings.ts';
import { tokenSetting } from '../sdk/settings.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api.iterable.com' },
  { value: 'EU', label: 'European Union', url: 'https://api.eu.iterable.com' },
];
// Iterable takes 4 MB and ten requests a second, so that many events in one is what makes it fast.
const batch = { max: 1_000, fallback: 500 };

/**
 * Iterable: events by `POST /api/events/trackBulk` (https://api.iterable.com/api/docs#events_trackBulk), users of
 * $identify by `POST /api/users/bulkUpdate` (https://api.iterable.com/api/docs#users_bulkUpdateUser). The event's id is
 * its `id` there: one sent twice is one.
 */
export const iterable = defineDestination({
  descriptor: {
    id: 'Iterable',
    label: 'Iterable',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Secret',
        key: 'apiKey',
        label: 'API key',
        placeholder: '',
        sublabel: 'Of type server-side.',
        required: true,
      },
      {
        type: 'Select',
        key: 'identifyBy',
        label: 'Users are known by',
        options: [
          { label: 'E-mail address, else user id', value: 'email' },
          { label: 'User id, else e-mail address', value: 'userId' },
        ],
        sublabel: 'As the type of your project says. The user id is the external id.',
        required: null,
        defaultValue: 'email',
      },
      regionSetting(regions),
      batchSizeSetting(batch),
      baseUrlSetting(regions[0].url),
    ],
  },
  exampleSettings: { apiKey: 'example-key', identifyBy: 'userId', region: 'EU', batchSize: '500' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const baseUrl = readRegionUrl(settings, regions);
  const headers = { 'api-key': tokenSetting(settings, 'apiKey') };
  const preferred = choiceSetting(settings, 'identifyBy', iterableKeys, 'email');
  return {
    batchEventsMax: readBatchSize(settings, batch),
    groupOf: (event) => (isIdentify(event) ? 'users' : 'events'),
    buildRequest(events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) {
        const users = events.map((event) => iterableUser(event, preferred));
        return postJson({ url: `${baseUrl}/api/users/bulkUpdate`, headers, body: { users }, events });
      }
      const rows = events.map((event) => iterableEvent(event, preferred));
      return postJson({ url: `${baseUrl}/api/events/trackBulk`, headers, body: { events: rows }, events });
    },
    readAnswer: (answer, events) => readFailures(answer, events, preferred),
  };
}

const unnamed: Outcome = { kind: 'retry', reason: rowRefusal('failCount') };

/** A 200 names what failed: users by their address or id, events by their name. */
function readFailures(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  preferred: IterableKey,
): readonly Outcome[] | undefined {
  const body = answer.status === 200 ? jsonAnswer(answer) : undefined;
  const failCount = body?.['failCount'];
  if (body === undefined || typeof failCount !== 'number' || failCount <= 0) return undefined;
  const failedUsers = namedIn(body['failedUpdates']);
  const failedNames = new Set(textsOf(body['disallowedEventNames']));
  const refusals = new Map<number, string>();
  events.forEach((event, index) => {
    const list = Object.values(userKey(event, preferred))
      .map((user) => failedUsers.get(user))
      .find(Boolean);
    if (list !== undefined) refusals.set(index, rowRefusal(list));
    else if (failedNames.has(sentEvent(event).name)) refusals.set(index, rowRefusal('disallowedEventNames'));
  });
  const outcomes = rowOutcomes(events.length, refusals);
  if (refusals.size >= failCount) return outcomes;
  // Which of the others failed is not said; to send once more what was taken changes nothing.
  return outcomes.map((outcome) => (outcome.kind === 'reject' ? outcome : unnamed));
}

/** The list each failed user is in, such as invalidEmails. */
function namedIn(failedUpdates: unknown): ReadonlyMap<string, string> {
  const lists = Object.entries(isJsonObject(failedUpdates) ? failedUpdates : {});
  return new Map(lists.flatMap(([list, users]) => textsOf(users).map((user) => [user, list] as const)));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}
