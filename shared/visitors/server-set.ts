import type { JsonObject } from '../runtime/json.ts';
import { cleanEmail } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { KeyTrust } from './visitor-store.ts';

/**
 * Identifiers and contact data that a server source set are not overwritten through a public key, which every visitor
 * of a page can read. Each visitor's row has a bit for each property.
 */
export const bitOfProperty = { external_id: 1, email: 2, phone_number: 4 } as const;

export type ProtectedProperty = keyof typeof bitOfProperty;

export const protectedProperties = Object.keys(bitOfProperty) as readonly ProtectedProperty[];

/** A server source signed a person in on the device with the row's id. */
export const signedInBit = 8;

export const isSignedInByServer = (bits: number): boolean => (bits & signedInBit) !== 0;

/** The bits of a row after its own visitor, or another one, signed in on its device. */
export const afterSignIn = (bits: number, byServer: boolean): number =>
  byServer ? bits | signedInBit : bits & ~signedInBit;

/**
 * The bits of two visitors after their merge: values set by a server stay protected, and a device's sign-in stays with
 * its row.
 */
export const mergedBits = (survivor: number, loser: number) => ({
  survivor: survivor | (loser & ~signedInBit),
  loser: loser & signedInBit,
});

/**
 * Whether an event with only a device's id belongs to the person signed in on the device. A person signed in by a
 * public key does not receive a server's events for a visitor that a server knows: otherwise anyone could obtain these
 * events.
 */
export const followsSignIn = (isServer: boolean, rowBits: number, ownBits: number): boolean =>
  !isServer || isSignedInByServer(rowBits) || (ownBits & ~signedInBit) === 0;

/**
 * Whether an event ties its identifiers to each other with a server's rights: in a signed event only one id is signed.
 */
export const tiesAsServer = (sentWith: KeyTrust, { externalIds }: VisitorClaim): boolean =>
  sentWith === 'server' || (sentWith === 'signed' && externalIds.length === 0);

export const isServerSet = (bits: number, name: ProtectedProperty): boolean => (bits & bitOfProperty[name]) !== 0;

/**
 * The bits after a server source wrote properties: a value sets the bit, null clears it. The bit of a property that
 * another key wrote since is unchanged.
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

/** Values that only public keys have set: a server's value replaces them, whatever its time. */
export function setByPublicOnly(bits: number, current: JsonObject): ReadonlySet<string> {
  return new Set(protectedProperties.filter((name) => !isServerSet(bits, name) && Object.hasOwn(current, name)));
}

/** The given properties that a public key may not change, because a server set them to another value. */
export function keptFromPublic(bits: number, current: JsonObject, given: JsonObject): readonly ProtectedProperty[] {
  if (bits === 0) return none;
  return protectedProperties.filter((name) => {
    const value = given[name];
    return isServerSet(bits, name) && value !== undefined && value !== '' && !isSameValue(name, current[name], value);
  });
}

/** Whether two visitors have different values of a property that a server set for both. */
export function contradict(a: ServerSetProperties, b: ServerSetProperties): boolean {
  return protectedProperties.some(
    (name) => isServerSet(a.bits & b.bits, name) && !isSameValue(name, a.value[name], b.value[name]),
  );
}

/** Properties that a server set for only one of two merging visitors: these values win whatever their times. */
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
