import { murmur3, murmur3Bytes } from '../../runtime/murmur3.ts';

export type PartitionIdentity = {
  readonly userId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly distinctId: string;
};

/** The partition of an event: events of one visitor meet in one partition, in order. */
export function partitionOf(accountId: string, identity: PartitionIdentity, partitions: number): number {
  return seededPartitionOf(partitionSeed(accountId), identity, partitions);
}

/** What an account adds to the partitions of its events, for those who place many of one account. */
export const partitionSeed = (accountId: string): number => murmur3(accountId);

/** The same as `partitionOf`, with the account's `partitionSeed`. */
export function seededPartitionOf(seed: number, identity: PartitionIdentity, partitions: number): number {
  if (partitions === 1) return 0;
  const own = identity.userId || identity.externalId || normalizeEmail(identity.email) || identity.distinctId;
  return murmur3(own, seed) % partitions;
}

/** The same for an identity whose deciding text stands at bytes[start, end). */
export function partitionOfText(
  seed: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  partitions: number,
): number {
  return partitions === 1 ? 0 : murmur3Bytes(bytes, start, end, seed) % partitions;
}

/** The one form of an e-mail address: trimmed, lower case. Undefined when nothing is left. */
export function normalizeEmail(email: string | null | undefined): string | undefined {
  const normal = email?.trim().toLowerCase();
  return normal === undefined || normal === '' ? undefined : normal;
}
