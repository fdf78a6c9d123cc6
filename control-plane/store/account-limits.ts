import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';

/** How much of the database one account may fill. */
export type AccountLimits = {
  /** Entities of its draft, over all collections. */
  readonly entitiesMax: number;
  /** Their bodies as JSON text. */
  readonly draftBytesMax: number;
  readonly versionsMax: number;
  /** Their content as PostgreSQL stores it, compressed. */
  readonly versionBytesMax: number;
  /** API keys that are neither revoked nor expired. */
  readonly keysMax: number;
};

const mebibyte = 1024 ** 2;

export const accountLimitsEnv = {
  ACCOUNT_ENTITIES_MAX: count('Entities of the draft of one account, over all collections; more get a 409', 10_000),
  ACCOUNT_DRAFT_BYTES_MAX: count('What those may hold together; more gets a 409', 32 * mebibyte, {
    unit: 'bytes',
    minimum: 1024,
  }),
  ACCOUNT_VERSIONS_MAX: count('Versions of one account; another gets a 409 until an old one is deleted', 10_000, {
    minimum: 2,
  }),
  ACCOUNT_VERSION_BYTES_MAX: count(
    'What PostgreSQL may store for the versions of one account, compressed; more gets a 409 until old ones are deleted',
    1024 * mebibyte,
    { unit: 'bytes', minimum: 1024 },
  ),
  ACCOUNT_KEYS_MAX: count('API keys of one account that are valid; another gets a 409 until one is revoked', 1_000),
};

export function readAccountLimits(env: Static<TObject<typeof accountLimitsEnv>>): AccountLimits {
  return {
    entitiesMax: env.ACCOUNT_ENTITIES_MAX,
    draftBytesMax: env.ACCOUNT_DRAFT_BYTES_MAX,
    versionsMax: env.ACCOUNT_VERSIONS_MAX,
    versionBytesMax: env.ACCOUNT_VERSION_BYTES_MAX,
    keysMax: env.ACCOUNT_KEYS_MAX,
  };
}
