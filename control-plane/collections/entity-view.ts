import type { AnyCollection } from '../../shared/collections/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities/config-entity.ts';

/** An entity as it is answered: its own fields between its id and its times. */
export function viewEntity(collection: AnyCollection, row: ConfigEntityRow): { readonly id: string } & JsonObject {
  return {
    id: row.id,
    // A row written before a field existed has its default.
    ...collection.defaults,
    ...row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}
