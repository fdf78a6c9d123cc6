import type { JsonObject } from '../runtime/json.ts';
import { cleanEmail } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { KeyTrust } from './visitor-store.ts';

/**
 * Identifiers and contact data that a server source has set are not overwritten through a public key, since every visitor of
 * a page can read that. Each visitor's row has a bit for each of them.
 */
export const bitOfProperty = { external_id: 1, email: 2, phone_number: 4 } as const;

export type ProtectedProperty = keyof typeof bitOfProperty;

export const protectedProperties = Object.keys(bitOfProperty) as readonly ProtectedProperty[];

/** A server source said who is signed in on the device with the row's id. */
export const signedInBit = 8;

export const isSignedInByServer = (bits: number): boolean => (bits & signedInBit) !== 0;

/** The bits of a row after another visitor, or its own again, signed in on its device. */
export const afterSignIn = (bits: number, byServer: boolean): number =>
  byServer ? bits | signedInBit : bits & ~signedInBit;

/** The bits of two visitors that become one: what is set stays so, and who is signed in on a device stays with its row. */
export const mergedBits = (survivor: number, loser: number) => ({
  survivor: survivor | (loser & ~signedInBit),
  loser: loser & signedInBit,
});

/**
 * Whether an event that names a device alone is of who signed in there. Who signed in by a public key has no part in a server's
 * events where a server knows the visitor with that id: else anybody could receive what a server sends about it.
 */
export const followsSignIn = (isServer: boolean, rowBits: number, ownBits: number): boolean =>
  !isServer || isSignedInByServer(rowBits) || (ownBits & ~signedInBit) === 0;

/** Whether an event ties its identifiers to each other as one of a server: of a signed one only a single id is signed. */
export const tiesAsServer = (sentWith: KeyTrust, { externalIds }: VisitorClaim): boolean =>
  sentWith === 'server' || (sentWith === 'signed' && externalIds.length === 0);

export const isServerSet = (bits: number, name: ProtectedProperty): boolean => (bits & bitOfProperty[name]) !== 0;

/**
 * The bits after a server source gave some properties, and what they are then: it sets a value, and what null clears is
 * set by no source. What was given by others since it was said is not.
 */
export function afterServerGave(bits: number, given: JsonObject, after: JsonObject): number {
  let next = bits;
  for (const name of protectedProperties) {
    const value = given[name];
    if (value === undefined || value === '') continue;
    if (value === null && !Object.hasOwn(after, name)) next &= ~bitOfProperty[name];
    else if (value !== null && isSameValue(name, after[name], value)) next |= bitOfProperty[name];
  }
  return next;
}

/** What only public keys have set: a server's value is put over it, whenever it was said. */
export function setByPublicOnly(bits: number, current: JsonObject): ReadonlySet<string> {
  return new Set(protectedProperties.filter((name) => !isServerSet(bits, name) && Object.hasOwn(current, name)));
}

/** Which of the given properties a public key may not change, as a server source has set them to something else. */
export function keptFromPublic(bits: number, current: JsonObject, given: JsonObject): readonly ProtectedProperty[] {
  if (bits === 0) return none;
  return protectedProperties.filter((name) => {
    const value = given[name];
    return isServerSet(bits, name) && value !== undefined && value !== '' && !isSameValue(name, current[name], value);
  });
}

/** Whether two visitors have something that a server source has set, each something else. */
export function contradict(a: ServerSetProperties, b: ServerSetProperties): boolean {
  return protectedProperties.some(
    (name) => isServerSet(a.bits & b.bits, name) && !isSameValue(name, a.value[name], b.value[name]),
  );
}

/** What one of two visitors that become one has set by a server and the other has not: time does not decide there. */
export function ruledByServer(a: ServerSetProperties, b: ServerSetProperties): JsonObject {
  const ruled: Record<string, unknown> = {};
  for (const name of protectedProperties) {
    const ofA = isServerSet(a.bits, name);
    if (ofA !== isServerSet(b.bits, name)) ruled[name] = (ofA ? a : b).value[name];
  }
  return ruled;
}

type ServerSetProperties = { readonly bits: number; readonly value: JsonObject };

const none: readonly ProtectedProperty[] = [];

const isSameValue = (name: ProtectedProperty, one: unknown, other: unknown): boolean =>
  one === other || (name === 'email' && cleanEmail(one) !== undefined && cleanEmail(one) === cleanEmail(other));
