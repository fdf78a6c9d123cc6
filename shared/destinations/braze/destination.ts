import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isAlias, isGroup } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import {
  address,
  batchSize,
  choice,
  optionalText,
  readBaseUrl,
  requiredText,
  SettingError,
  toggle,
  token,
} from '../sdk/settings.ts';
import type { Setting, SettingsOf } from '../sdk/settings.ts';
import { nameList } from '../sdk/setting-lists.ts';
import { subscriptionSettings } from '../sdk/subscriptions.ts';
import { brazeRows, listNames, standardAliasLabel, tiedUser } from './payload.ts';
import type { BrazeWording } from './payload.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { eraseAtBraze } from './erase.ts';

const batch = { max: 75, fallback: 75 };
/** Maximum number of users per request to `/users/identify`. */
const identifiedMax = 50;

const settings = {
  baseUrl: address(
    requiredText(
      {
        label: 'REST endpoint',
        placeholder: 'https://rest.iad-01.braze.com',
        sublabel: 'The instance of your dashboard.',
        example: 'https://rest.iad-01.braze.com',
      },
      readBaseUrl,
    ),
  ),
  apiKey: token({
    label: 'REST API key',
    sublabel: 'Needs the permissions users.track and users.identify.',
    example: 'example-key',
  }),
  anonymousUsers: choice({
    label: 'Anonymous users',
    options: [
      { label: 'Merge into the user of $identify', value: 'identify' },
      { label: 'Keep separate profiles', value: 'keep' },
    ],
    sublabel: 'Merging needs a key with the permission users.identify.',
    fallback: 'identify',
    example: 'identify',
  }),
  aliasLabel: optionalText({
    label: 'Alias label',
    placeholder: standardAliasLabel,
    sublabel: "The label of anonymous users' aliases. The alias name is the visitor ID.",
  }),
  orders: choice({
    label: 'Orders',
    options: [
      { label: 'Recommended e-commerce events', value: 'recommended' },
      { label: 'Purchases, one for each product', value: 'purchases' },
      { label: 'Custom events', value: 'events' },
    ],
    sublabel:
      'How Order Completed is sent. With either of the last two, the other steps of an order are custom events.',
    fallback: 'recommended',
  }),
  subscribeEvents: subscriptionSettings.subscribeEvents,
  unsubscribeEvents: subscriptionSettings.unsubscribeEvents,
  subscriptionGroups: nameList({
    label: 'Subscription groups',
    placeholder: '01234567-89ab-cdef-0123-456789abcdef',
    sublabel: 'IDs of the subscription groups for subscribing and unsubscribing events, separated by commas.',
  }),
  mergeObjects: toggle({
    label: 'Merge nested objects',
    sublabel: 'Merges an object among the traits into the existing one instead of replacing it.',
  }),
  iosAppId: appId('iOS'),
  androidAppId: appId('Android'),
  batchSize: batchSize(batch),
  defaultCurrency: defaultCurrency('USD'),
};

function appId(system: string): Setting<string | undefined> {
  return optionalText({
    label: `App identifier, ${system}`,
    placeholder: '01234567-89ab-cdef-0123-456789abcdef',
    sublabel: 'From Settings, App Settings. Push tokens in events of this app are registered with it.',
  });
}

/**
 * Braze: `POST /users/track` with `events`, `purchases`, and `attributes` for $identify, at most 75 in total
 * (https://www.braze.com/docs/api/endpoints/user_data/post_user_track). A user with neither an external id nor an
 * e-mail address is identified by a user alias. An $identify with an external id first merges that alias into the user
 * with `POST /users/identify` (https://www.braze.com/docs/api/endpoints/user_data/post_user_identify). Braze has no
 * event id, so a repeated event counts twice.
 */
export const braze = defineDestination({
  id: 'Braze',
  label: 'Braze',
  settings,
  facts: {
    sends: 'Every event but groups; $identify merges the anonymous user and sets attributes',
    limits: { events: 75 },
    deduplicatesBy: undefined,
    errors: 'rows by list and index in the response',
    sources: [
      'https://www.braze.com/docs/api/endpoints/user_data/post_user_track',
      'https://www.braze.com/docs/api/endpoints/user_data/post_user_identify',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: [
      'merging two users that both have an external id; an alias merges an anonymous user only',
      'campaigns, Canvases and catalogs, which are not user data',
      'erasing every user with an address: of several users without an external id Braze deletes one, and a user with an external id that Sluice does not know stays, since it may be another person',
    ],
    skips: { group: 'Braze has no groups', alias: 'the destination is set to keep anonymous users separate' },
    namesElsewhere: ['Braze Cloud Mode (Actions)', 'Appboy'],
  },
  loadPlatform: async () => (await import('./platform.ts')).brazePlatform,
  prepare,
  erase: (given) => eraseAtBraze({ ...given, aliasLabel: given.aliasLabel ?? standardAliasLabel }),
});

type Given = SettingsOf<typeof settings>;

function prepare(given: Given): PreparedDestination {
  checkGroups(given);
  const headers = { authorization: `Bearer ${given.apiKey}` };
  const ties = given.anonymousUsers === 'identify';
  const wording: BrazeWording = { ...given, aliasLabel: given.aliasLabel ?? standardAliasLabel };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => !isGroup(event) && (ties || !isAlias(event)),
    groupOf(event) {
      if (isAlias(event)) return 'aliases';
      return ties && tiedUser(event, wording) !== undefined ? 'identified' : 'tracked';
    },
    buildRequest(events) {
      const post = (path: string, body: JsonObject) =>
        postJson({ url: `${given.baseUrl}${path}`, headers, body, events });
      const [first] = events;
      const tied = ties ? events.flatMap((event) => tiedUser(event, wording) ?? []) : [];
      if (tied.length > identifiedMax) throw new UnfitEventError(`more than ${identifiedMax} users`);
      const identify = post('/users/identify', { aliases_to_identify: tied, merge_behavior: 'merge' });
      if (first !== undefined && isAlias(first)) {
        if (tied.length < events.length) throw new UnfitEventError('the alias does not have two ids');
        return identify;
      }
      const rows = events.map((event) => brazeRows(event, wording));
      const lists = listNames.flatMap((name) => {
        const list = rows.flatMap((row) => row[name] ?? []);
        return list.length === 0 ? [] : [[name, list] as const];
      });
      const objects = lists.reduce((sum, [, list]) => sum + list.length, 0);
      if (objects > batch.max)
        throw new UnfitEventError(`more than ${batch.max} objects, such as products of an order`);
      const track = post('/users/track', Object.fromEntries(lists));
      return tied.length === 0 ? track : { ...identify, next: track };
    },
    readAnswer: (answer, events) => readRows(answer, events, wording),
  };
}

const groupsMax = 50;

function checkGroups({ subscriptionGroups, subscribeEvents, unsubscribeEvents }: Given): void {
  const hasEvents = subscribeEvents.size > 0 || unsubscribeEvents.size > 0;
  if (hasEvents && subscriptionGroups.length === 0) {
    throw new SettingError('subscriptionGroups', 'is required with subscribing or unsubscribing events');
  }
  if (subscriptionGroups.length > groupsMax || !subscriptionGroups.every((id) => /^[\w-]{1,64}$/.test(id))) {
    throw new SettingError('subscriptionGroups', `must be up to ${groupsMax} group ids, separated by commas`);
  }
}

/** Outcomes by event: a successful response may list refused rows, each by its list and its index in that list. */
function readRows(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  wording: BrazeWording,
): readonly Outcome[] | undefined {
  const errors = answer.status >= 200 && answer.status < 300 ? jsonAnswer(answer)?.['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const places = new Map<unknown, number[]>(listNames.map((name) => [name, []]));
  events.forEach((event, index) => {
    if (isAlias(event)) return;
    const rows = brazeRows(event, wording);
    for (const name of listNames) rows[name]?.forEach(() => places.get(name)?.push(index));
  });
  const refusals = new Map<number, string>();
  for (const { input_array: list, index } of errors.filter(isJsonObject)) {
    const place = places.get(list)?.[Number(index)];
    if (place !== undefined) refusals.set(place, rowRefusal(list));
  }
  return rowOutcomes(events.length, refusals);
}
