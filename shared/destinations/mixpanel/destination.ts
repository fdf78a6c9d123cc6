import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isAlias, isGroup, isIdentify, outboundHead } from '../sdk/event.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { chainOf, postJson, withinBytes } from '../sdk/http.ts';
import { nameList } from '../sdk/setting-lists.ts';
import {
  batchSize,
  choice,
  optionalSecret,
  optionalText,
  region,
  requiredSecret,
  SettingError,
  optionalBaseUrl,
} from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import {
  mixpanelAlias,
  mixpanelEvent,
  mixpanelGroup,
  mixpanelIncrement,
  mixpanelMerge,
  mixpanelProfile,
} from './payload.ts';
import type { IdentityMerge } from './payload.ts';
import { eraseAtMixpanel, mixpanelErasureSettings } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://api.mixpanel.com' },
  { value: 'EU', label: 'European Union', url: 'https://api-eu.mixpanel.com' },
  { value: 'IN', label: 'India', url: 'https://api-in.mixpanel.com' },
];
const batch = { max: 2_000, fallback: 500 };
// Mixpanel's limit: https://docs.mixpanel.com/troubleshooting/errors/413-payload-too-large
const bodyBytesMax = 10_000_000;
/** Maximum number of profile updates per request. */
const updatesMax = 2_000;
const serviceAccountKeys = ['serviceAccountUsername', 'serviceAccountSecret', 'projectId'] as const;

const settings = {
  projectToken: requiredSecret({
    label: 'Project token',
    sublabel: 'From Project settings, Access keys.',
    example: 'example-token',
  }),
  region: region(regions),
  serviceAccountUsername: optionalText({
    label: 'Service account',
    placeholder: 'sluice.1a2b3c.mp-service-account',
    sublabel: 'With its secret and the project ID, the account authenticates events; otherwise the project token does.',
  }),
  serviceAccountSecret: optionalSecret({ label: 'Service account secret' }),
  projectId: optionalText({ label: 'Project ID', placeholder: '1234567' }),
  groupKey: optionalText({
    label: 'Group key',
    placeholder: 'company_id',
    sublabel: 'As set in the project. If empty, groups are skipped.',
  }),
  identityMerge: choice<IdentityMerge>({
    label: 'ID merge',
    options: [
      { label: 'Simplified', value: 'simplified' },
      { label: 'Original', value: 'original' },
    ],
    sublabel:
      'As set in the project. With original ID merge, an identify sends a $merge of device and user, and an alias a $create_alias; both need a service account.',
    fallback: 'simplified',
  }),
  setOnceTraits: nameList({
    label: 'Traits set once',
    placeholder: 'first_seen, initial_plan',
    sublabel: 'The profile keeps the first value of these traits ($set_once).',
  }),
  unionTraits: nameList({
    label: 'Traits added to a list without duplicates',
    placeholder: 'interests',
    sublabel: "Values of these traits in an identify are added to the profile's list unless present ($union).",
  }),
  appendTraits: nameList({
    label: 'Traits appended to a list',
    placeholder: 'visited_stores',
    sublabel: 'Values of these traits are always appended ($append). A retry may append twice.',
  }),
  incrementProperties: nameList({
    label: 'Properties added to the profile',
    placeholder: 'credits_used',
    sublabel:
      'Numeric event properties that are added to the profile property of the same name ($add). A retry may add twice.',
  }),
  batchSize: batchSize(batch),
  baseUrl: optionalBaseUrl(regions[0].url),
  ...mixpanelErasureSettings,
};

/**
 * Mixpanel: events with `POST /import` (https://docs.mixpanel.com/reference/import-events) and `strict=1`, so that
 * Mixpanel reports each refused row; profiles of $identify with `POST /engage` and `$set`
 * (https://docs.mixpanel.com/reference/profile-set). `$insert_id` is a UUID derived from the event id, by which
 * Mixpanel deduplicates.
 */
export const mixpanel = defineDestination({
  id: 'Mixpanel',
  label: 'Mixpanel',
  settings,
  facts: {
    sends: "Every event; $identify sets the profile, $group sets the group's profile",
    limits: { events: 2_000, bytes: 10_485_760 },
    deduplicatesBy: '$insert_id',
    errors: 'row by row; profiles as a whole',
    sources: [
      'https://docs.mixpanel.com/reference/import-events',
      'https://docs.mixpanel.com/reference/profile-set',
      'https://docs.mixpanel.com/reference/profile-set-property-once',
      'https://docs.mixpanel.com/reference/profile-append-to-list-property',
      'https://docs.mixpanel.com/reference/profile-union',
      'https://docs.mixpanel.com/reference/profile-numerical-add',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: [
      'an event for each product of an order: Mixpanel can read lists of objects',
      'page names in event names: a mapping renames events',
    ],
    skips: {
      group: 'the destination has no group key',
      alias: 'Mixpanel merges a device and a user from events that carry both ids',
      identify: 'the event has no traits to set',
    },
    namesElsewhere: ['MP'],
  },
  loadPlatform: async () => (await import('./platform.ts')).mixpanelPlatform,
  prepare,
  erase: eraseAtMixpanel,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const baseUrl = given.baseUrl ?? given.region.url;
  const { projectToken: token, groupKey, identityMerge } = given;
  const isOriginal = identityMerge === 'original';
  const account = readServiceAccount(given);
  const importUrl = `${baseUrl}/import?strict=1${account === undefined ? '' : `&project_id=${account.projectId}`}`;
  // Without ip=0 Mixpanel would take the profile's location from the address of this server.
  const engageUrl = `${baseUrl}/engage?ip=0&strict=1&verbose=1`;
  const groupsUrl = `${baseUrl}/groups?strict=1&verbose=1`;
  const profileOf = (event: OutboundEvent): readonly JsonObject[] => mixpanelProfile(event, token, given);
  const authorization = account?.authorization ?? basicAuthorization(token, '');
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) =>
      (!isAlias(event) || isOriginal) &&
      (!isGroup(event) || groupKey !== undefined) &&
      (!isIdentify(event) || profileOf(event).length > 0 || (isOriginal && mixpanelMerge(event) !== undefined)),
    groupOf(event) {
      // An event with a follow-up request is sent alone, so that a failure of that request affects no other event.
      if (isIdentify(event)) return isOriginal ? `profile ${event.resolved.event.id}` : 'profiles';
      if (isGroup(event)) return 'groups';
      if (isAlias(event)) return 'aliases';
      return mixpanelIncrement(event, token, given) === undefined ? 'events' : `counted ${outboundHead(event).id}`;
    },
    buildRequest(events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) {
        const profiles = events.flatMap(profileOf);
        if (profiles.length > updatesMax) throw new UnfitEventError(`more than ${updatesMax} profile updates`);
        const merges = isOriginal ? events.flatMap((event) => mixpanelMerge(event) ?? []) : [];
        return chainOf([
          ...(profiles.length === 0
            ? []
            : [withinBytes(postJson({ url: engageUrl, body: profiles, events }), bodyBytesMax)]),
          ...(merges.length === 0
            ? []
            : [postJson({ url: importUrl, headers: { authorization }, body: merges, events })]),
        ]);
      }
      if (first !== undefined && isGroup(first) && groupKey !== undefined) {
        const body = events.map((event) => mixpanelGroup(event, token, groupKey));
        return withinBytes(postJson({ url: groupsUrl, body, events }), bodyBytesMax);
      }
      const body = events.map((event) => (isAlias(event) ? mixpanelAlias(event, token) : mixpanelEvent(event, given)));
      const imported = withinBytes(
        postJson({ url: importUrl, headers: { authorization }, body, events }),
        bodyBytesMax,
      );
      const increment = first === undefined || isAlias(first) ? undefined : mixpanelIncrement(first, token, given);
      return increment === undefined
        ? imported
        : chainOf([imported, postJson({ url: engageUrl, body: [increment], events })]);
    },
    readAnswer: (answer, events) => readRows(answer, events.length),
  };
}

type ServiceAccount = { readonly projectId: string; readonly authorization: string };

function readServiceAccount(given: SettingsOf<typeof settings>): ServiceAccount | undefined {
  const { serviceAccountUsername: username, serviceAccountSecret: secret, projectId } = given;
  if (username === undefined && secret === undefined && projectId === undefined) return undefined;
  if (username === undefined || secret === undefined || projectId === undefined) {
    const missing = serviceAccountKeys.find((key) => given[key] === undefined);
    throw new SettingError(missing ?? 'projectId', 'requires the other two settings of a service account');
  }
  if (!/^\d+$/.test(projectId)) throw new SettingError('projectId', 'must be a number');
  return { projectId, authorization: basicAuthorization(username, secret) };
}

/**
 * Outcomes by row: with a 400 Mixpanel still accepts the valid rows; with a 200 of /engage or /groups it may refuse
 * updates without naming them (https://docs.mixpanel.com/reference/profile-batch-update).
 */
function readRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const body = jsonAnswer(answer);
  if (answer.status === 200) {
    const isRefused = body?.['status'] === 0 || answer.body.trim() === '0';
    const refused: Outcome = { kind: 'reject', reason: rowRefusal(), unnamed: 'any' };
    return isRefused ? Array.from({ length: count }, () => refused) : undefined;
  }
  const failed = body?.['failed_records'];
  if (answer.status !== 400 || !Array.isArray(failed)) return undefined;
  const refusals = new Map(
    failed.filter(isJsonObject).map((record) => [Number(record['index']), rowRefusal(record['field'])] as const),
  );
  // If the response does not name the invalid rows, the dispatcher finds them by sending smaller batches.
  const isTold = refusals.size > 0 && [...refusals.keys()].every((index) => index >= 0 && index < count);
  return isTold ? rowOutcomes(count, refusals) : undefined;
}
