import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
  PreparedDestination,
} from '../sdk/destination.ts';
import { isAboutIds, isAlias, isIdentify, outboundHead, sentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { batchSize, choice, region, token, optionalBaseUrl, optionalText, toggle } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import {
  isIterableCart,
  isIterableDevice,
  isIterablePurchase,
  iterableCart,
  iterableDevice,
  iterableEvent,
  iterableNewEmail,
  iterablePurchase,
  iterableUser,
  userKey,
} from './payload.ts';
import type { IterableKey } from './payload.ts';
import { eraseAtIterable } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api.iterable.com' },
  { value: 'EU', label: 'European Union', url: 'https://api.eu.iterable.com' },
];
// Iterable accepts 4 MB per request but only ten requests per second, so throughput needs large batches.
const batch = { max: 1_000, fallback: 500 };
const bodyBytesMax = 4_000_000;

const settings = {
  apiKey: token({ label: 'API key', sublabel: 'A key of type server-side.', example: 'example-key' }),
  identifyBy: choice({
    label: 'Users are identified by',
    sublabel: 'According to the type of your project. The user ID is the external ID.',
    options: [
      { label: 'E-mail address, else user ID', value: 'email' },
      { label: 'User ID, else e-mail address', value: 'userId' },
    ],
    fallback: 'email',
    example: 'userId',
  }),
  region: region(regions),
  cartEvents: choice({
    label: 'Product Added',
    options: [
      { label: 'Updates the cart', value: 'cart' },
      { label: 'Is a custom event', value: 'event' },
    ],
    sublabel: 'An update replaces the cart in Iterable with the products of the event: list all of them in products.',
    fallback: 'cart',
  }),
  applicationName: optionalText({
    label: 'Push integration',
    placeholder: 'com.example.app',
    sublabel: "The application name to register device tokens with. Defaults to the app's package name.",
  }),
  aliases: choice<'skip' | 'updateEmail'>({
    label: 'Aliases',
    options: [
      { label: 'Are skipped', value: 'skip' },
      { label: 'Change the e-mail address', value: 'updateEmail' },
    ],
    sublabel:
      'The second option: if the new ID of an alias is an e-mail address, it becomes the address of the user with the previous ID.',
    fallback: 'skip',
  }),
  mergeObjects: toggle({
    label: 'Merge nested objects',
    sublabel: 'Merges an object among the traits into the existing one instead of replacing it.',
  }),
  batchSize: batchSize(batch),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * Iterable: events with `POST /api/events/trackBulk` (https://api.iterable.com/api/docs#events_trackBulk), users of
 * $identify with `POST /api/users/bulkUpdate` (https://api.iterable.com/api/docs#users_bulkUpdateUser). The event id
 * is sent as `id`, by which Iterable deduplicates. A second request registers the device token of an app event, with
 * `POST /api/users/registerDeviceToken` (https://api.iterable.com/api/docs#users_registerDeviceToken). An order is
 * sent alone with `POST /api/commerce/trackPurchase`, and counts as revenue.
 */
export const iterable = defineDestination({
  id: 'Iterable',
  label: 'Iterable',
  settings,
  facts: {
    sends: "Every event; $identify sets the user's fields",
    limits: { events: 1_000, bytes: 4_194_304 },
    deduplicatesBy: 'id',
    errors: 'failed users and event names in a 200',
    sources: ['https://api.iterable.com/api/docs'],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: ['browser tokens for web push', 'the catalog'],
    skips: {
      group: 'Iterable has no groups',
      alias: 'aliases change e-mail addresses only if the destination is set to',
    },
  },
  loadPlatform: async () => (await import('./platform.ts')).iterablePlatform,
  prepare,
  erase: eraseAtIterable,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const baseUrl = given.baseUrl ?? given.region.url;
  const headers = { 'api-key': given.apiKey };
  const preferred = given.identifyBy;
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) =>
      !isAboutIds(event) || (given.aliases === 'updateEmail' && iterableNewEmail(event) !== undefined),
    groupOf(event) {
      if (isAlias(event)) return `alone ${outboundHead(event).id}`;
      // Iterable accepts only one purchase, cart or device per request.
      const isAlone =
        isIterablePurchase(event) ||
        (given.cartEvents === 'cart' && isIterableCart(event)) ||
        isIterableDevice(event, given.applicationName);
      if (isIdentify(event) && !isAlone) return 'users';
      return isAlone ? `alone ${outboundHead(event).id}` : 'events';
    },
    buildRequest(events) {
      const post = (path: string, body: JsonObject) =>
        withinBytes(postJson({ url: `${baseUrl}/api/${path}`, headers, body, events }), bodyBytesMax);
      const [first] = events;
      const newEmail = first === undefined ? undefined : iterableNewEmail(first);
      if (newEmail !== undefined) return post('users/updateEmail', newEmail);
      const device = first === undefined ? undefined : iterableDevice(first, preferred, given.applicationName);
      const withDevice = (request: OutboundRequest): OutboundRequest =>
        device === undefined ? request : { ...request, next: post('users/registerDeviceToken', device) };
      if (first !== undefined && isIdentify(first)) {
        return withDevice(
          post('users/bulkUpdate', {
            users: events.map((event) => iterableUser(event, preferred, given.mergeObjects)),
          }),
        );
      }
      const purchase = first === undefined ? undefined : iterablePurchase(first, preferred);
      if (purchase !== undefined) return post('commerce/trackPurchase', purchase);
      const cart = first === undefined || given.cartEvents !== 'cart' ? undefined : iterableCart(first, preferred);
      if (cart !== undefined) return post('commerce/updateCart', cart);
      return withDevice(post('events/trackBulk', { events: events.map((event) => iterableEvent(event, preferred)) }));
    },
    readAnswer: (answer, events) => readFailures(answer, events, preferred),
  };
}

/** Reads the outcomes from a 200 with failures, which lists users by e-mail address or id, and events by name. */
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
  // The response does not say which of the other events failed, so all are sent again; resending accepted events is
  // harmless.
  const isAll = failCount >= events.length;
  const unnamed: Outcome = { kind: 'retry', reason: rowRefusal('failCount'), unnamed: isAll ? 'any' : 'some' };
  return outcomes.map((outcome) => (outcome.kind === 'reject' ? outcome : unnamed));
}

/** For each failed user, the name of the list in the response that contains the user, such as invalidEmails. */
function namedIn(failedUpdates: unknown): ReadonlyMap<string, string> {
  const lists = Object.entries(isJsonObject(failedUpdates) ? failedUpdates : {});
  return new Map(lists.flatMap(([list, users]) => textsOf(users).map((user) => [user, list] as const)));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}
