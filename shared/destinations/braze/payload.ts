import type { JsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { propertiesOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import { renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';

const aliasLabel = 'sluice_visitor_id';
const nameCharactersMax = 255;

/** Braze's names, https://www.braze.com/docs/api/objects_filters/user_attributes_object. */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['phone_number', 'phone'],
  ['city', 'home_city'],
  ['date_of_birth', 'dob'],
]);

/** What would name another user, or steer the request. */
const notAttributes: ReadonlySet<string> = new Set([
  'external_id',
  'braze_id',
  'user_alias',
  '_update_existing_only',
  'push_token_import',
  'push_tokens',
]);

const genders: ReadonlyMap<string, string> = new Map([
  ['m', 'M'],
  ['male', 'M'],
  ['man', 'M'],
  ['f', 'F'],
  ['female', 'F'],
  ['woman', 'F'],
  ['o', 'O'],
  ['other', 'O'],
  ['n', 'N'],
  ['not applicable', 'N'],
  ['p', 'P'],
  ['prefer not to say', 'P'],
]);

/** An event object, https://www.braze.com/docs/api/objects_filters/event_object. */
export function brazeEvent(event: OutboundEvent): JsonObject {
  const { name, timeMs } = sentEvent(event);
  const taken = brazeName(name);
  if (taken === '') throw new UnfitEventError('the event has no name that Braze takes');
  const properties = Object.entries(propertiesOf(event)).flatMap(([key, value]) => {
    const property = brazeName(key);
    return property === '' || value === null ? [] : [[property, value] as const];
  });
  return {
    ...userOf(event),
    name: taken,
    time: new Date(timeMs).toISOString(),
    properties: Object.fromEntries(properties),
  };
}

/** A user attributes object. */
export function brazeAttributes(event: OutboundEvent): JsonObject {
  const { email } = contactIds(event);
  const traits = withoutMembers(traitsOf(event), notAttributes);
  const gender = genders.get(textOf(traits['gender'])?.trim().toLowerCase() ?? '');
  return {
    ...withoutMembers(renameMembers(traits, attributeNames), new Set(['gender', 'email'])),
    ...(gender === undefined ? {} : { gender }),
    ...(email === undefined ? {} : { email }),
    ...userOf(event),
  };
}

/** One identifier: of several in one object Braze refuses some pairs. */
function userOf(event: OutboundEvent): JsonObject {
  const { externalId, email, visitorId } = contactIds(event);
  if (externalId !== undefined) return { external_id: externalId };
  if (email !== undefined) return { email };
  // Braze makes no profile for an alias it does not know unless it is told to.
  return { user_alias: { alias_name: visitorId, alias_label: aliasLabel }, _update_existing_only: false };
}

/** Braze takes names of at most 255 characters that do not start with a dollar sign. */
function brazeName(name: string): string {
  return name.replace(/^\$+/, '').slice(0, nameCharactersMax);
}
