import type { TObject, TProperties } from 'typebox';
import { Type } from 'typebox';
import type { AnyCollection } from '../../shared/collections/registry.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';

const instant = Type.String({ format: 'date-time' });

/** Fields of every entity, whatever its collection. */
export const entityFields = { id: Type.String(), createdAt: instant, updatedAt: nullable(instant) };

/** Body of a create: fields with a default are optional; fields that the service sets are not accepted. */
export function createSchema(collection: AnyCollection): TObject {
  const properties: TProperties = {};
  for (const [field, schema] of Object.entries(collection.body.properties)) {
    if (collection.readOnly.includes(field)) continue;
    properties[field] = Object.hasOwn(collection.defaults, field) ? Type.Optional(schema) : schema;
  }
  return Type.Object(properties, { additionalProperties: false });
}

/** Body of a PATCH: every field is optional; read-only fields are accepted and ignored. */
export function patchSchema(collection: AnyCollection, overrides: TProperties = {}): TObject {
  const readOnly = Type.Unknown({ description: 'Read-only: accepted and ignored.' });
  const properties: TProperties = {};
  for (const [field, schema] of Object.entries(collection.body.properties)) {
    properties[field] = Type.Optional(schema);
  }
  for (const field of [...Object.keys(entityFields), ...collection.fixed, ...collection.readOnly]) {
    properties[field] = Type.Optional(readOnly);
  }
  return Type.Object({ ...properties, ...overrides }, { additionalProperties: false });
}

/** Schema of an entity in a reply. */
export function replySchema(collection: AnyCollection, more: TProperties = {}): TObject {
  return Type.Object({ ...entityFields, ...collection.body.properties, ...more });
}

/** An entity as returned in a reply: its own fields between its id and its times. */
export function viewEntity(collection: AnyCollection, row: ConfigEntityRow): { readonly id: string } & JsonObject {
  return {
    id: row.id,
    // A row that was written before a field existed gets the field's default.
    ...collection.defaults,
    ...row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}
