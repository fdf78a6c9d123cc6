import { sealedBy } from '../../shared/contracts/config/secrets.ts';

/** Numbers of rows that contain a value sealed by a key other than the current one. */
export type SealedOtherwise = {
  readonly destinations: number;
  readonly sources: number;
  readonly versions: number;
  /** Keys of sources, and their secrets for `userHash`. */
  readonly sourceKeys: number;
  /** Identifiers of erased visitors that destinations have not deleted yet. */
  readonly erasures: number;
  /** Private keys of accounts. */
  readonly accountKeys: number;
};

/** Which sealed values count: every value sealed with another key, or only values that name another key. */
export type OtherKeys = 'any' | 'named';

/** The id of the sealing key, and which values sealed by other keys count. */
export type SealingKey = { readonly keyId: string; readonly which: OtherKeys };

/**
 * The current SECRETS_KEY (`secrets`) and SOURCE_SECRETS_KEY (`signing`). If one is missing, its values are not
 * checked.
 */
export type SealingKeys = { readonly secrets?: SealingKey | undefined; readonly signing?: SealingKey | undefined };

/** SQL: whether the text was sealed by another key. */
export function isSealedOtherwise(text: string, key: SealingKey | undefined): string {
  if (key === undefined) return 'false';
  const sealed = `(starts_with(${text}, 'enc:v1:') and not starts_with(${text}, '${sealedBy(key.keyId)}'))`;
  return key.which === 'any' ? sealed : `(${sealed} and position('.' in ${text}) > 0)`;
}

/** SQL: whether the settings of a destination, as JSON, contain a text that another key has sealed. */
export function holdsSealedOtherwise(settings: string, key: SealingKey | undefined): string {
  return `exists (
    select from jsonb_each_text(case when jsonb_typeof(${settings}) = 'object' then ${settings} else '{}' end) as setting
    where ${isSealedOtherwise('setting.value', key)})`;
}

/** SQL: whether a source, as JSON, contains a text that another key has sealed. */
export function sourceHoldsSealedOtherwise(source: string, { secrets, signing }: SealingKeys): string {
  const held = (field: string, key: SealingKey | undefined): string =>
    isSealedOtherwise(`coalesce(${source} ->> '${field}', '')`, key);
  return `(${held('accessToken', secrets)} or ${held('signingSecret', signing)})`;
}

/**
 * SQL that counts the rows of the database that contain a value sealed by another key. Selects one row, a
 * SealedOtherwise.
 */
export function countSealedOtherwise(keys: SealingKeys): string {
  const held = holdsSealedOtherwise("body -> 'settings'", keys.secrets);
  return `select
    (select count(*) from entities where collection = 'destinations' and ${held})::int as "destinations",
    (select count(*) from entities
      where collection = 'sources' and ${sourceHoldsSealedOtherwise('body', keys)})::int as "sources",
    (select count(*) from versions where ${versionHoldsSealedOtherwise(keys)})::int as "versions",
    ((select count(*) from source_keys where ${isSealedOtherwise('sealed_key', keys.secrets)})
      + (select count(*) from source_secrets where ${isSealedOtherwise('sealed', keys.secrets)}))::int as "sourceKeys",
    (select count(*) from erasure_records
      where subject is not null and ${isSealedOtherwise('subject', keys.secrets)})::int as "erasures",
    (select count(*) from account_keys where ${isSealedOtherwise('private_key', keys.secrets)})::int as "accountKeys"`;
}

/** SQL: whether a version contains a text that another key has sealed. */
export function versionHoldsSealedOtherwise(keys: SealingKeys): string {
  return `(exists (
    select from jsonb_array_elements(content -> 'destinations') as destination
    where ${holdsSealedOtherwise("destination -> 'settings'", keys.secrets)})
  or exists (
    select from jsonb_array_elements(content -> 'sources') as source
    where ${sourceHoldsSealedOtherwise('source', keys)}))`;
}
