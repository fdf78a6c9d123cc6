import type { JsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { propertiesOf, sentEvent, traitsOf } from '../sdk/event.ts';
import { renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';

/** What a project may know its users by. */
export type IterableKey = 'email' | 'userId';

const fieldNames: ReadonlyMap<string, string> = new Map([
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['phone_number', 'phoneNumber'],
]);
const identifying: ReadonlySet<string> = new Set(['email', 'userId']);

/** A row of trackBulk. */
export function iterableEvent(event: OutboundEvent, preferred: IterableKey): JsonObject {
  const { id, name, timeMs } = sentEvent(event);
  return {
    ...userKey(event, preferred),
    eventName: name,
    id,
    createdAt: Math.floor(timeMs / 1_000),
    dataFields: propertiesOf(event),
  };
}

/** A row of bulkUpdate. */
export function iterableUser(event: OutboundEvent, preferred: IterableKey): JsonObject {
  const key = userKey(event, preferred);
  const { email, externalId } = contactIds(event);
  const fields = withoutMembers(renameMembers(traitsOf(event), fieldNames), identifying);
  if ('email' in key) return { ...key, dataFields: { ...fields, userId: externalId } };
  // Without preferUserId a user without an address is refused.
  return { ...key, preferUserId: true, dataFields: { ...fields, email } };
}

/** Exactly one of the two, for Iterable refuses both. Throws UnfitEventError where neither is known. */
export function userKey(event: OutboundEvent, preferred: IterableKey): Readonly<Partial<Record<IterableKey, string>>> {
  const { email, externalId } = contactIds(event);
  const isByEmail = preferred === 'email' ? email !== undefined : externalId === undefined;
  if (isByEmail && email !== undefined) return { email };
  if (externalId !== undefined) return { userId: externalId };
  throw new UnfitEventError('Iterable needs an e-mail address or an external id');
}
