import { sources } from '../../shared/collections/sources.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities/config-entity.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { createEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { issueSourceKeys } from './source-keys.ts';

/** Adds a source to the draft, with its live and its test key. */
export async function createSource(
  editing: Editing,
  secretBox: SecretBox,
  fields: JsonObject,
): Promise<ConfigEntityRow> {
  const row = await createEntity(editing, sources, fields);
  await issueSourceKeys(editing.em, secretBox, row, editing.now);
  return row;
}
