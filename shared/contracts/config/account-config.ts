import { createHash } from 'node:crypto';
import type { JsonObject } from '../../runtime/json.ts';
import { encodeJson, isJsonObject } from '../../runtime/json.ts';
import { refusedVersion } from '../log-format.ts';
import type { PublishedPlanSettings } from './plan-settings.ts';

/** A published entity: its id and stored body, with sealed secrets. */
export type SnapshotEntity = { readonly id: string } & JsonObject;

/** Entities by collection, as this build, an earlier or a later build stored them. */
export type StoredCollections = Readonly<Record<string, readonly SnapshotEntity[]>>;

/** A source key, published only as its SHA-256: the keys themselves never leave PostgreSQL. */
export type SourceKey = {
  /** SHA-256 of the key in UTF-8, in lower-case hex. */
  readonly keyHash: string;
  readonly sourceId: string;
  readonly test: boolean;
};

/** A source's secret for `userHash`, sealed. */
export type SourceSecret = { readonly sourceId: string; readonly sealed: string };

/**
 * The configuration of one account for gateways and pipelines: the value of `account.<id>` in the CONFIG bucket. Its
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
  /** `IdentitySettings` as stored; absent if the account uses the defaults. */
  readonly identity?: unknown;
  /** Settings of the account, not of the version; absent if the account has none. Read with `readPlanSettings`. */
  readonly planSettings?: PublishedPlanSettings;
};

/** A published entity with a field that this build cannot read. */
export type UnreadableEntity = {
  readonly collection: string;
  readonly id: string;
  readonly field: string;
  /** The entity as published: a restriction that depends on the entity may need its fields. */
  readonly entity: SnapshotEntity;
  /** Whether the entity is still used, with the field's default, because the field restricts nothing. */
  readonly isDefaulted: boolean;
};

/** Encodes a configuration. Equal configurations have equal bytes. */
export function encodeAccountConfig(config: AccountConfig): Uint8Array {
  return encodeJson(config);
}

/** The size of `encodeAccountConfig`'s result. */
export function sizeOfAccountConfig(config: AccountConfig): number {
  return Buffer.byteLength(JSON.stringify(config));
}

/**
 * Reads a stored configuration. Throws if the bytes are no configuration, or have a format that this build does not
 * know.
 */
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
