import { murmur3 } from '../hashing/murmur3.ts';

export type PartitionIdentity = {
  readonly userId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly distinctId: string;
};

/** The partition of an event: events of one visitor meet in one partition, in order. */
export function partitionOf(accountId: string, identity: PartitionIdentity, partitions: number): number {
  if (partitions === 1) return 0;
  const own = identity.userId || identity.externalId || normalizeEmail(identity.email) || identity.distinctId;
  return murmur3(own, murmur3(accountId)) % partitions;
}

/** The one form of an e-mail address: trimmed, lower case. Undefined when nothing is left. */
export function normalizeEmail(email: string | null | undefined): string | undefined {
  const normal = email?.trim().toLowerCase();
  return normal === undefined || normal === '' ? undefined : normal;
}
