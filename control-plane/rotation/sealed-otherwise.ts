import { sealedBy } from '../../shared/contracts/config/secrets.ts';

/** How many rows hold something that another key has sealed. */
export type SealedOtherwise = { readonly destinations: number; readonly versions: number; readonly sourceKeys: number };

/** Which sealed values are meant: of any other key, or only where the key is named and another one. */
export type OtherKeys = 'any' | 'named';

/** SQL: whether the text sealed by another key than the one with this id. */
export function isSealedOtherwise(text: string, keyId: string, which: OtherKeys): string {
  const sealed = `(starts_with(${text}, 'enc:v1:') and not starts_with(${text}, '${sealedBy(keyId)}'))`;
  return which === 'any' ? sealed : `(${sealed} and position('.' in ${text}) > 0)`;
}

/** SQL: whether the settings of a destination, JSON, hold such a text. */
export function holdsSealedOtherwise(settings: string, keyId: string, which: OtherKeys): string {
  return `exists (
    select from jsonb_each_text(case when jsonb_typeof(${settings}) = 'object' then ${settings} else '{}' end) as setting
    where ${isSealedOtherwise('setting.value', keyId, which)})`;
}

/** SQL that counts the rows of the database that hold something another key has sealed: one row, a SealedOtherwise. */
export function countSealedOtherwise(keyId: string, which: OtherKeys): string {
  return `select
    (select count(*) from entities
      where collection = 'destinations' and ${holdsSealedOtherwise("body -> 'settings'", keyId, which)})::int as "destinations",
    (select count(*) from versions where ${versionHoldsSealedOtherwise(keyId, which)})::int as "versions",
    (select count(*) from source_keys where ${isSealedOtherwise('sealed_key', keyId, which)})::int as "sourceKeys"`;
}

/** SQL: whether a version holds such a text. */
export function versionHoldsSealedOtherwise(keyId: string, which: OtherKeys): string {
  return `exists (
    select from jsonb_array_elements(content -> 'destinations') as destination
    where ${holdsSealedOtherwise("destination -> 'settings'", keyId, which)})`;
}
