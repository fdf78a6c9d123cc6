import { createHash } from 'node:crypto';
import type { JsonObject } from '../../runtime/json.ts';
import { encodeJson, isJsonObject } from '../../runtime/json.ts';
import { refusedVersion } from '../log-format.ts';
import type { PublishedPlanSettings } from './plan-settings.ts';

/** A published entity: its id and stored body, with sealed secrets. */
export type SnapshotEntity = { readonly id: string } & JsonObject;

/** Entities by collection as they were stored, by this build, an earlier one or a later one. */
export type StoredCollections = Readonly<Record<string, readonly SnapshotEntity[]>>;

/** A source key by its SHA-256: keys themselves never leave PostgreSQL. */
export type SourceKey = {
  /** Lower-case hex of SHA-256 of the key's UTF-8. */
  readonly keyHash: string;
  readonly sourceId: string;
  readonly test: boolean;
};

/** The sealed secret of one source. */
export type SourceSecret = { readonly sourceId: string; readonly sealed: string };

/**
 * The configuration of one account for gateways and pipelines: value of `account.<id>` in the CONFIG bucket. Its
 * collections are as stored; `shared/collections/live-config.ts` reads them.
 */
export type AccountConfig<Collections = StoredCollections> = {
  readonly format: 1;
  readonly accountId: string;
  readonly versionId: string;
  readonly versionNumber: number;
  readonly publishedAt: string;
  readonly sourceKeys: readonly SourceKey[];
  readonly collections: Collections;
  /** Secrets of sources for `userHash`, sealed for pipelines. */
  readonly sourceSecrets?: readonly SourceSecret[];
  /** `IdentitySettings` as stored; absent for the defaults. */
  readonly identity?: unknown;
  /** Settings of the account, not of the version; absent if the account has none. `readPlanSettings` reads it. */
  readonly planSettings?: PublishedPlanSettings;
};

/** A published entity with a field that this build cannot read. */
export type UnreadableEntity = {
  readonly collection: string;
  readonly id: string;
  readonly field: string;
  /** As published: a restriction by entity may need its fields. */
  readonly entity: SnapshotEntity;
  /** Whether the entity stays in force with the field's default, because the field restricts nothing. */
  readonly isDefaulted: boolean;
};

/** The bytes of a configuration. Equal configurations have equal bytes. */
export function encodeAccountConfig(config: AccountConfig): Uint8Array {
  return encodeJson(config);
}

/** The size of `encodeAccountConfig`'s result. */
export function sizeOfAccountConfig(config: AccountConfig): number {
  return Buffer.byteLength(JSON.stringify(config));
}

/** Reads a stored configuration. Throws for any other text and for a format that this build does not know. */
export function decodeAccountConfig(bytes: Uint8Array): AccountConfig {
  const config: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  const format = isJsonObject(config) ? config['format'] : undefined;
  if (format !== 1) throw new Error(`reading the format of a configuration: ${refusedVersion(format, 1)}`);
  if (!isJsonObject(config) || !isJsonObject(config['collections']))
    throw new Error('configuration has no collections');
  return config as unknown as AccountConfig;
}

/** SHA-256 of a source key as lower-case hex, the form in which keys are published. */
export function hashSourceKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}
