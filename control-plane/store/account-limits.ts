import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

const mebibyte = 1024 ** 2;

/** How much of the database one account may fill. */
export const { variables: accountLimitsEnv, read: readAccountLimits } = defineSettings({
  entitiesMax: fromEnv({
    ACCOUNT_ENTITIES_MAX: count('Entities of the draft of one account, over all collections; more get a 409', 10_000),
  }),
  /** Size of the entities' bodies as JSON text. */
  draftBytesMax: fromEnv({
    ACCOUNT_DRAFT_BYTES_MAX: count(
      'Size of the draft of one account, all entities together; more gets a 409',
      32 * mebibyte,
      {
        unit: 'bytes',
        minimum: 1024,
      },
    ),
  }),
  versionsMax: fromEnv({
    ACCOUNT_VERSIONS_MAX: count('Versions of one account; another gets a 409 until an old one is deleted', 10_000, {
      minimum: 2,
    }),
  }),
  versionBytesMax: fromEnv({
    ACCOUNT_VERSION_BYTES_MAX: count(
      'Size of the versions of one account in PostgreSQL, compressed; more gets a 409 until old versions are deleted',
      1024 * mebibyte,
      { unit: 'bytes', minimum: 1024 },
    ),
  }),
  /** API keys that are neither revoked nor expired. */
  keysMax: fromEnv({
    ACCOUNT_KEYS_MAX: count('API keys of one account that are valid; another gets a 409 until one is revoked', 1_000),
  }),
});

export type AccountLimits = ReturnType<typeof readAccountLimits>;
