import type { AccountVisitors } from './account-visitors.ts';
import { ranksEmailFirst } from './identity-limits.ts';
import type { IdentityLimits } from './identity-limits.ts';
import type { PlannedEvent } from './planned-event.ts';
import { isServerSet } from './server-set.ts';
import { storedIdentity } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { isKnown } from './working-visitor.ts';
import type { Working } from './working-visitor.ts';

/** The event's visitor before the event is applied; the device's visitor if the person is unknown. */
export function findKnown(account: AccountVisitors, claim: VisitorClaim, asServer: boolean): Working | undefined {
  const { userId, externalIds, emails, anonymousId } = claim;
  const device = account.ofDevice(userId, asServer);
  const person = account.identities.ownerOf('external_id', externalIds);
  if (person !== undefined) return person;
  if (userId !== undefined) return device;
  if (anonymousId !== undefined) return account.visitors.visitor(anonymousId);
  // An e-mail address is looked up only if there is no externalId.
  return externalIds.length > 0 ? undefined : account.identities.ownerOf('email', emails);
}

/**
 * Whether an event is of the visitor that `findKnown` returned: another person may use a known person's device for the
 * first time.
 */
export function isEventOf(account: AccountVisitors, event: PlannedEvent, found: Working): boolean {
  const { externalIds } = event.claim;
  if (externalIds.length === 0 || !isKnown(found)) return true;
  return account.identities.ownerOf('external_id', externalIds) !== undefined || account.mayHaveAnother(event, found);
}

/** The owner of an event's e-mail address, if the address ranks above the other identifiers and they lead elsewhere. */
export function findByEmail(
  account: AccountVisitors,
  claim: VisitorClaim,
  limits: IdentityLimits,
  asServer: boolean,
): Working | undefined {
  if (!ranksEmailFirst(limits, claim)) return undefined;
  const { userId, externalIds, emails } = claim;
  const owner = account.identities.ownerOf('email', emails);
  const isPerson = externalIds.length > 0;
  const other = isPerson ? account.identities.ownerOf('external_id', externalIds) : account.ofDevice(userId, asServer);
  return owner === other ? undefined : owner;
}

/**
 * Gives an event to the visitor of its e-mail address. No visitors are merged: the device is signed in, and an
 * externalId without an owner is added. A public key adds no externalId, because its owner could then change the
 * visitor.
 */
export function followEmail(account: AccountVisitors, event: PlannedEvent, visitor: Working): Working {
  const { userId, externalIds } = event.claim;
  for (const externalId of externalIds) {
    const owner = account.identities.owner('external_id', storedIdentity(externalId));
    if (owner === visitor) continue;
    const isFree =
      owner === undefined && event.tiesAsServer && (!isKnown(visitor) || account.mayHaveAnother(event, visitor));
    if (isFree) account.tieExternalId(event, visitor, externalId);
    else event.leaveOut('keptApart');
  }
  if (userId === undefined) return visitor;
  if (account.visitors.row(userId) === undefined) account.create(userId);
  account.tieDevice(event, userId, visitor);
  return visitor;
}

/** The event's visitor, after the ties and merges that follow from its identifiers. */
export function identify(account: AccountVisitors, event: PlannedEvent, found: Working | undefined): Working {
  const { userId, externalIds, anonymousId, isAlias } = event.claim;
  const [externalId, newId] = externalIds;
  if (externalId === undefined) return found ?? account.create(userId ?? anonymousId);
  if (isAlias === true && newId !== undefined) return alias(account, event, { previousId: externalId, newId });
  const person = signIn(account, event, externalId);
  if (newId !== undefined) addExternalId(account, event, person, newId);
  return person;
}

/** The person of an externalId, with the device tied to it. */
function signIn(account: AccountVisitors, event: PlannedEvent, externalId: string): Working {
  const { userId } = event.claim;
  const device = account.ofDevice(userId, event.tiesAsServer);
  const person = account.identities.owner('external_id', storedIdentity(externalId));
  if (person === undefined) {
    if (device === undefined) return createPerson(account, event, userId, externalId);
    if (isKnown(device) && !account.mayHaveAnother(event, device)) event.leaveOut('keptApart');
    else if (account.tieExternalId(event, device, externalId)) return device;
    const made = createPerson(account, event, undefined, externalId);
    account.tieDevice(event, userId, made);
    return made;
  }
  if (userId === undefined) return person;
  // The person is already signed in on the device, but now a server may confirm the sign-in.
  const one = device === person ? undefined : account.join(event, device ?? account.create(userId), person, false);
  if (one === undefined) account.tieDevice(event, userId, person);
  return one ?? person;
}

/** Adds the second externalId of an event that is not an alias. */
function addExternalId(account: AccountVisitors, event: PlannedEvent, person: Working, externalId: string): void {
  const owner = account.identities.owner('external_id', storedIdentity(externalId));
  if (owner === person) return;
  if (owner === undefined && account.mayHaveAnother(event, person)) account.tieExternalId(event, person, externalId);
  else event.leaveOut('keptApart');
}

type Alias = { readonly previousId: string; readonly newId: string };

/**
 * Joins two ids of one person. PostHog's libraries for servers may give the device's id as the new one, so without a
 * person of the new id, the device's visitor with that id is joined, too.
 */
function alias(account: AccountVisitors, event: PlannedEvent, ids: Alias): Working {
  const isOfPerson = account.identities.owner('external_id', storedIdentity(ids.newId)) !== undefined;
  const person = joinPrevious(account, event, ids);
  const device = isOfPerson ? undefined : account.ofDevice(ids.newId, event.tiesAsServer);
  if (device === undefined || device === person) return person;
  return account.join(event, device, person, true) ?? person;
}

/**
 * The previous id may be that of a device, a visitor or a person: its visitor is merged with the visitor of the new id.
 * A public key never merges two known people, and adds no id to a person whose externalId a server set.
 */
function joinPrevious(account: AccountVisitors, event: PlannedEvent, { previousId, newId }: Alias): Working {
  const { userId } = event.claim;
  const previous = account.identities.owner('external_id', storedIdentity(previousId));
  const device = account.ofDevice(userId, event.tiesAsServer);
  const mayAdd = ({ setByServer }: Working): boolean => event.tiesAsServer || !isServerSet(setByServer, 'external_id');
  const both = previous !== undefined && device !== undefined && previous !== device;
  const one = both ? (account.join(event, device, previous, true) ?? previous) : (previous ?? device);
  if (one === undefined) {
    const made = signIn(account, event, newId);
    if (mayAdd(made)) account.tieExternalId(event, made, previousId);
    return made;
  }
  const known = account.identities.owner('external_id', storedIdentity(newId));
  if (known === one) return one;
  const isTied = known === undefined && mayAdd(one) && account.tieExternalId(event, one, newId);
  const person = known ?? (isTied ? one : createPerson(account, event, undefined, newId));
  const merged = isTied ? one : account.join(event, one, person, true);
  if (merged === undefined) {
    account.tieDevice(event, userId, person);
    return person;
  }
  if (previous === undefined && mayAdd(merged)) account.tieExternalId(event, merged, previousId);
  if (device !== undefined || userId === undefined) return merged;
  const joined = account.merge(event, account.create(userId), merged);
  if (joined === undefined) account.tieDevice(event, userId, merged);
  return joined ?? merged;
}

/** Creates the visitor of an externalId without an owner. */
function createPerson(
  account: AccountVisitors,
  event: PlannedEvent,
  userId: string | undefined,
  externalId: string,
): Working {
  const made = account.create(userId);
  account.tieExternalId(event, made, externalId);
  return made;
}
