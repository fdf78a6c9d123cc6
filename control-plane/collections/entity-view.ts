import type { JsonObject } from '../../shared/process/json.ts';
import type { ConfigEntityRow } from '../../shared/storage/entities/config-entity.ts';

/** An entity as it is answered: its own fields between its id and its times. */
export function viewEntity(row: ConfigEntityRow): { readonly id: string } & JsonObject {
  return {
    id: row.id,
    ...row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}
