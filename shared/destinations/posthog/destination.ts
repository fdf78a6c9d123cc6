import { toPosthog } from '../../contracts/events/posthog-names.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventUuid } from '../sdk/event-ids.ts';
import {
  contextOf,
  groupIn,
  groupOfVisitor,
  identifyEvent,
  isAlias,
  isGroup,
  isIdentify,
  mappedProperties,
  propertiesOf,
  screenEvent,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { renameMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { batchSize, choice, region, requiredSecret, optionalBaseUrl, optionalText, toggle } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';
import { eraseAtPosthog, posthogErasureSettings } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'US Cloud', url: 'https://us.i.posthog.com' },
  { value: 'EU', label: 'EU Cloud', url: 'https://eu.i.posthog.com' },
];
// PostHog limits only bytes, to 20 MB per request.
const batch = { max: 1_000, fallback: 250 };
const bodyBytesMax = 20_000_000;

/** PostHog's names of context members: https://posthog.com/docs/data/events#default-properties. */
const contextNames: ReadonlyMap<string, string> = new Map([
  ...toPosthog,
  ['ip', '$ip'],
  ['user_agent', '$raw_user_agent'],
  ['browser_language', '$browser_language'],
  ['locale', '$locale'],
  ['app_build', '$app_build'],
  ['app_namespace', '$app_namespace'],
  ['network_carrier', '$network_carrier'],
]);

const settings = {
  projectApiKey: requiredSecret({
    label: 'Project API key',
    placeholder: 'phc_…',
    sublabel: 'From Project settings, General.',
    example: 'phc_example',
  }),
  region: region(regions),
  batchSize: batchSize(batch),
  groupType: optionalText({
    label: 'Group type',
    placeholder: 'company',
    sublabel: 'Group type for group events without one.',
  }),
  historicalMigration: toggle({
    label: 'Historical migration',
    sublabel:
      'For a destination that replays old events: PostHog imports them separately from live events. They must be more than 48 hours old.',
  }),
  personProfiles: choice<'always' | 'identified'>({
    label: 'Person profiles',
    options: [
      { label: 'For every visitor', value: 'always' },
      { label: 'For identified visitors only', value: 'identified' },
    ],
    sublabel: 'Events without a profile cost less and set no person properties.',
    fallback: 'always',
  }),
  traitNames: traitNames(),
  baseUrl: optionalBaseUrl(regions[0].url),
  ...posthogErasureSettings,
};

/**
 * PostHog, Cloud or self-hosted: `POST /batch/`, https://posthog.com/docs/api/capture. The event's `uuid` is derived
 * from its id; $identify sets person properties and merges the visitor's anonymous events.
 */
export const posthog = defineDestination({
  id: 'PostHog',
  label: 'PostHog',
  settings,
  facts: {
    sends: "Every event; $identify sets the person's properties, $group sets the group's",
    limits: { events: 1_000, bytes: 20_000_000 },
    deduplicatesBy: 'uuid',
    errors: 'status of the whole request',
    sources: ['https://posthog.com/docs/api/capture'],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).posthogPlatform,
  prepare,
  erase: eraseAtPosthog,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/batch/`;
  const apiKey = given.projectApiKey;
  return {
    batchEventsMax: given.batchSize,
    buildRequest: (events) =>
      withinBytes(
        postJson({
          url,
          body: {
            api_key: apiKey,
            historical_migration: given.historicalMigration || undefined,
            batch: events.map((event) => posthogEvent(event, given)),
          },
          events,
        }),
        bodyBytesMax,
      ),
    readAnswer: (answer, events) =>
      answer.status === 200 && isOverQuota(answer) ? events.map(() => overQuota) : undefined,
  };
}

const standardName = platformEventNames('PostHog');

const overQuota: Outcome = {
  kind: 'retry',
  reason: 'the project is over its quota',
  afterMs: 3_600_000,
  isThrottled: true,
};

/**
 * Whether PostHog dropped the events because the project is over its quota. PostHog then still responds with 200, and
 * only newer servers report the drop.
 */
function isOverQuota(answer: OutboundAnswer): boolean {
  const limited = jsonAnswer(answer)?.['quota_limited'];
  return Array.isArray(limited) && limited.includes('events');
}

function posthogEvent(event: OutboundEvent, given: SettingsOf<typeof settings>): JsonObject {
  const sent = sentEvent(event);
  const { externalId, visitorId } = contactIds(event);
  const context = contextOf(event);
  const common = {
    uuid: eventUuid(sent.id),
    distinct_id: externalId ?? visitorId,
    timestamp: new Date(sent.timeMs).toISOString(),
  };
  // Without the visitor's IP address PostHog would take the person's location from the address of this server.
  const place = textOf(context['ip']) === undefined ? { $geoip_disable: true } : {};
  // PostHog drops groups and aliases that have no profile.
  const isOfProfile = externalId !== undefined || isGroup(event) || isAlias(event);
  const isProfiled = given.personProfiles === 'always' || isOfProfile;
  const profiled = isProfiled ? {} : { $process_person_profile: false };
  const surroundings = { $lib: 'sluice', ...renameMembers(context, contextNames), ...place, ...profiled };
  const traits = namedTraits(traitsOf(event), given.traitNames);
  if (isIdentify(event)) {
    const set = { ...surroundings, $set: traits };
    if (externalId === undefined) return { ...common, event: '$set', properties: set };
    return { ...common, event: identifyEvent, properties: { ...set, $anon_distinct_id: visitorId } };
  }
  const { name, properties, distinctId } = callOf(event, sent, given.groupType ?? 'company');
  const group = groupOfVisitor(event);
  const isOfPerson = mappedProperties(event) === undefined && externalId !== undefined;
  return {
    ...common,
    ...(distinctId === undefined ? {} : { distinct_id: distinctId }),
    event: name,
    properties: {
      ...surroundings,
      ...(group === undefined || isGroup(event) ? {} : { $groups: { [given.groupType ?? 'company']: group } }),
      ...(isOfPerson && Object.keys(traits).length > 0 ? { $set: traits } : {}),
      ...properties,
    },
  };
}

type Call = { readonly name: string; readonly properties: JsonObject; readonly distinctId?: string };

/** The event under PostHog's names. Throws UnfitEventError if a group or an alias has no ids. */
function callOf(event: OutboundEvent, sent: SentEvent, groupType: string): Call {
  const properties = propertiesOf(event);
  if (isGroup(event)) {
    const group = groupIn(properties, groupType);
    if (group === undefined) throw new UnfitEventError('the event has no group id');
    const said = { $group_type: group.type, $group_key: group.id, $group_set: group.traits };
    return { name: '$groupidentify', properties: said };
  }
  if (isAlias(event)) {
    const [previous, id] = [textOf(properties['previous_id']), textOf(properties['id'])];
    if (previous === undefined || id === undefined) throw new UnfitEventError('the event does not have two ids');
    return { name: '$create_alias', properties: { alias: previous, distinct_id: id }, distinctId: id };
  }
  if (sent.name === screenEvent && !sent.isRenamed) {
    const { name: screen, ...others } = properties;
    return { name: '$screen', properties: { ...others, $screen_name: properties['$screen_name'] ?? screen } };
  }
  return { name: standardName(sent) ?? sent.name, properties };
}
