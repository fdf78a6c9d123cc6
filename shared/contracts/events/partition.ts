import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { murmur3, murmur3Bytes } from '../../runtime/murmur3.ts';
import { isPlaceholder } from './placeholder-identifier.ts';

/** The identifiers that decide an event's partition. */
export type EventIdentity = {
  readonly userId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
  /** Its `external_id` and `email` identify the visitor if the other fields do not. */
  readonly userProperties?: object | null | undefined;
};

export type PartitionIdentity = EventIdentity & { readonly distinctId: string };

/** Returns the partition of an event: all events of one visitor are in one partition, in order. */
export function partitionOf(accountId: string, identity: PartitionIdentity, partitions: number): number {
  return seededPartitionOf(partitionSeed(accountId), identity, partitions);
}

/** The account's seed of the hash, for callers that partition many events of one account. */
export const partitionSeed = (accountId: string): number => murmur3(accountId);

/** The same as `partitionOf`, with the account's `partitionSeed`. */
export function seededPartitionOf(seed: number, identity: PartitionIdentity, partitions: number): number {
  if (partitions === 1) return 0;
  const { userId, externalId, email, userProperties, distinctId } = identity;
  const own =
    identifierOf(userId) ??
    identifierOf(externalId) ??
    identifierOf(normalizeEmail(email)) ??
    (isJsonObject(userProperties) ? identifierOfProperties(userProperties) : undefined) ??
    distinctId;
  return murmur3(own, seed) % partitions;
}

function identifierOfProperties({ external_id: externalId, email }: JsonObject): string | undefined {
  return identifierOf(externalId) ?? (typeof email === 'string' ? identifierOf(normalizeEmail(email)) : undefined);
}

const identifierOf = (value: unknown): string | undefined =>
  typeof value === 'string' && !isPlaceholder(value) ? value : undefined;

/** As `seededPartitionOf`, for an identifier at bytes[start, end) that is not a placeholder. */
export function partitionOfText(
  seed: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  partitions: number,
): number {
  return partitions === 1 ? 0 : murmur3Bytes(bytes, start, end, seed) % partitions;
}

/** Normalizes an e-mail address: trimmed, lower case. Undefined if nothing is left. */
export function normalizeEmail(email: string | null | undefined): string | undefined {
  const normal = email?.trim().toLowerCase();
  return normal === undefined || normal === '' ? undefined : normal;
}
