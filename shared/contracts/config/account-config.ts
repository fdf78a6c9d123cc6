import { createHash } from 'node:crypto';
import type { JsonObject } from '../../runtime/json.ts';
import { encodeJson, isJsonObject } from '../../runtime/json.ts';

/** The collections a version holds, as the draft diff names them. */
export const collectionNames = [
  'destinations',
  'sources',
  'allowedEvents',
  'externalAllowedEventData',
  'mappings',
  'consentSettings',
  'globalDispatchCenters',
  'replaySettings',
  'tagManagers',
  'tagManagerTags',
  'tagManagerTriggers',
  'tagManagerVariables',
  'dataGovernanceRules',
  'dataGovernanceEvents',
  'experimentSettings',
  'experiments',
  'experimentVariants',
] as const;

export type CollectionName = (typeof collectionNames)[number];

/** One entity as it was published: its stored body (secrets encrypted) with its id. */
export type SnapshotEntity = { readonly id: string } & JsonObject;

export type Snapshot = Readonly<Record<CollectionName, readonly SnapshotEntity[]>>;

/** A source key by its SHA-256: keys themselves never leave PostgreSQL. */
export type SourceKey = {
  /** Lower-case hex of SHA-256 of the key's UTF-8. */
  readonly keyHash: string;
  readonly sourceId: string;
  readonly test: boolean;
};

/** What gateways and pipelines run for one account: value of `account.<id>` in the CONFIG bucket. */
export type AccountConfig = {
  readonly format: 1;
  readonly accountId: string;
  readonly versionId: string;
  readonly versionNumber: number;
  readonly publishedAt: string;
  readonly sourceKeys: readonly SourceKey[];
  readonly collections: Snapshot;
};

/** The bytes of a configuration; the same configuration gives the same bytes. */
export function encodeAccountConfig(config: AccountConfig): Uint8Array {
  return encodeJson(config);
}

/** Reads a configuration. Throws where it is none, or of a format this build does not know. */
export function decodeAccountConfig(bytes: Uint8Array): AccountConfig {
  const config: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  const format = isJsonObject(config) ? config['format'] : undefined;
  if (format !== 1) throw new Error(`configuration format ${String(format)} is unknown to this build`);
  return config as AccountConfig;
}

/** SHA-256 of a source key, lower-case hex: the form in which a key is published. */
export function hashSourceKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}
