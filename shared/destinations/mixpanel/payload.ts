import type { JsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { eventUuid } from '../sdk/event-ids.ts';
import {
  contextOf,
  groupIn,
  groupOfVisitor,
  isAlias,
  isGroup,
  isIdentify,
  numberOf,
  propertiesOf,
  saidTraitsOf,
  sentEvent,
  traitsOf,
} from '../sdk/event.ts';
import { renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import { withOwnNames } from '../sdk/trait-names.ts';

/** Mixpanel's names of browser properties, https://docs.mixpanel.com/docs/data-structure/property-reference. */
const contextNames: ReadonlyMap<string, string> = new Map([
  ['current_url', '$current_url'],
  ['referrer', '$referrer'],
  ['browser_name', '$browser'],
  ['browser_version', '$browser_version'],
  ['os_name', '$os'],
  ['os_version', '$os_version'],
  ['device_type', '$device'],
  ['screen_width', '$screen_width'],
  ['screen_height', '$screen_height'],
  ['app_version', '$app_version_string'],
  ['app_build', '$app_build_number'],
  ['device_model', '$model'],
  ['device_manufacturer', '$manufacturer'],
  ['network_carrier', '$carrier'],
  ['referring_domain', '$referring_domain'],
  ['initial_referrer', '$initial_referrer'],
  ['initial_referring_domain', '$initial_referring_domain'],
]);

const profileNames: ReadonlyMap<string, string> = new Map([
  ['email', '$email'],
  ['first_name', '$first_name'],
  ['last_name', '$last_name'],
  ['phone_number', '$phone'],
  ['city', '$city'],
  ['state', '$region'],
  ['country', '$country_code'],
  ['name', '$name'],
  ['created_at', '$created'],
  ['createdAt', '$created'],
  ['avatar', '$avatar'],
]);

/** How a project merges devices and users: by events that carry both ids (simplified), or by dedicated events. */
export type IdentityMerge = 'simplified' | 'original';

export type MixpanelIdentity = { readonly groupKey?: string | undefined; readonly identityMerge: IdentityMerge };

/** One row of `/import`. */
export function mixpanelEvent(event: OutboundEvent, { groupKey, identityMerge }: MixpanelIdentity): JsonObject {
  const group = groupKey === undefined ? undefined : groupOfVisitor(event);
  const { id, name, timeMs } = sentEvent(event);
  const { user_agent: _userAgent, ...context } = contextOf(event);
  const ids = contactIds(event);
  return {
    event: name,
    properties: {
      // Mixpanel derives the location from an IP address; without `ip: 0` it would use the address of this server.
      ip: 0,
      ...renameMembers(context, contextNames),
      ...(group === undefined || groupKey === undefined ? {} : { [groupKey]: group }),
      ...renameMembers(propertiesOf(event), new Map()),
      time: timeMs,
      distinct_id: distinctId(ids, identityMerge),
      ...(identityMerge === 'simplified' ? bothIds(ids) : {}),
      $insert_id: eventUuid(id),
    },
  };
}

/** The traits that update a profile by an operation other than `$set`, and the properties to add up. */
export type MixpanelProfileSettings = {
  readonly identityMerge: IdentityMerge;
  readonly setOnceTraits: readonly string[];
  readonly unionTraits: readonly string[];
  readonly appendTraits: readonly string[];
  readonly incrementProperties: readonly string[];
};

/**
 * The `/engage` updates of an identify, one for each kind of update, and one for each value to append. Only values that
 * this identify carries are added to lists; earlier ones were added before.
 */
export function mixpanelProfile(
  event: OutboundEvent,
  token: string,
  given: MixpanelProfileSettings,
): readonly JsonObject[] {
  const setOnceTraits = withOwnNames(given.setOnceTraits);
  const unionTraits = withOwnNames(given.unionTraits);
  const appendTraits = withOwnNames(given.appendTraits);
  const traits = traitsOf(event);
  const said = saidTraitsOf(event);
  const set = renameMembers(
    withoutMembers(traits, new Set([...setOnceTraits, ...unionTraits, ...appendTraits])),
    profileNames,
  );
  const once = renameMembers(named(traits, setOnceTraits), profileNames);
  const union = Object.entries(renameMembers(named(said, unionTraits), profileNames)).map(
    ([name, value]) => [name, Array.isArray(value) ? value : [value]] as const,
  );
  const appended = Object.entries(renameMembers(named(said, appendTraits), profileNames)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown) => ({ $append: { [name]: one } })),
  );
  const whose = { $token: token, $distinct_id: distinctId(contactIds(event), given.identityMerge) };
  const hasSome = (members: object): boolean => Object.keys(members).length > 0;
  return [
    ...(hasSome(set) ? [{ $set: set }] : []),
    ...(hasSome(once) ? [{ $set_once: once }] : []),
    ...(union.length > 0 ? [{ $union: Object.fromEntries(union) }] : []),
    ...appended,
  ].map((update) => ({ ...whose, ...update }));
}

const named = (members: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]] as const] : [])));

/**
 * The `/engage` update that adds the event's `incrementProperties` to the profile; undefined without such a property.
 */
export function mixpanelIncrement(
  event: OutboundEvent,
  token: string,
  { incrementProperties, identityMerge }: MixpanelProfileSettings,
): JsonObject | undefined {
  if (incrementProperties.length === 0 || isIdentify(event) || isGroup(event) || isAlias(event)) return undefined;
  const properties = propertiesOf(event);
  const added = incrementProperties.flatMap((name) => {
    const value = numberOf(properties[name]);
    return value === undefined || value === 0 ? [] : [[name, value] as const];
  });
  if (added.length === 0) return undefined;
  return {
    $token: token,
    $distinct_id: distinctId(contactIds(event), identityMerge),
    $add: Object.fromEntries(added),
  };
}

/** One update of `/groups`, https://developer.mixpanel.com/reference/group-set-property. */
export function mixpanelGroup(event: OutboundEvent, token: string, groupKey: string): JsonObject {
  const group = groupIn(propertiesOf(event), groupKey);
  if (group === undefined) throw new UnfitEventError('the event has no group id');
  return {
    $token: token,
    $group_key: groupKey,
    $group_id: group.id,
    $set: renameMembers(group.traits, groupNames),
  };
}

const groupNames: ReadonlyMap<string, string> = new Map([['name', '$name']]);

/**
 * The `/import` row that merges a device and a user in a project with original ID merge. Undefined unless the event
 * has two different ids. https://docs.mixpanel.com/reference/identity-merge
 */
export function mixpanelMerge(event: OutboundEvent): JsonObject | undefined {
  const { externalId, visitorId } = contactIds(event);
  if (externalId === undefined || visitorId === undefined || externalId === visitorId) return undefined;
  return { event: '$merge', properties: { $distinct_ids: [externalId, visitorId] } };
}

/** The `/import` row of an alias: https://developer.mixpanel.com/reference/identity-create-alias */
export function mixpanelAlias(event: OutboundEvent, token: string): JsonObject {
  const { id, previous_id: previous } = propertiesOf(event);
  if (typeof id !== 'string' || typeof previous !== 'string')
    throw new UnfitEventError('the alias does not have two ids');
  return { event: '$create_alias', properties: { distinct_id: previous, alias: id, token } };
}

// With simplified ID merge, Mixpanel derives `distinct_id` from these two ids.
const bothIds = ({ externalId, visitorId }: ContactIds): JsonObject => ({
  $device_id: visitorId,
  ...(externalId === undefined ? {} : { $user_id: externalId }),
});

// Mixpanel's own libraries use this prefix for an anonymous person in projects with simplified ID merge.
function distinctId({ externalId, visitorId }: ContactIds, identityMerge: IdentityMerge): string | undefined {
  return externalId ?? (identityMerge === 'simplified' ? `$device:${visitorId}` : visitorId);
}
