import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { TObject, TProperties } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from './api-error.ts';

const returned = Type.Optional(Type.Unknown({ description: 'Read-only: accepted if it is sent back unchanged.' }));

/**
 * The body of a change: the fields that can change, and the read-only fields of a GET reply, which are accepted
 * unchanged.
 */
export function changeSchema<Fields extends TProperties>(fields: Fields, reply: TObject): TObject<Fields> {
  const others = Object.keys(reply.properties).filter((field) => !Object.hasOwn(fields, field));
  const properties = { ...Object.fromEntries(others.map((field) => [field, returned])), ...fields };
  return Type.Object(properties, { additionalProperties: false }) as TObject<Fields>;
}

/** Read-only fields that change without an edit, so that a client may send back an outdated value. */
const outdated: ReadonlySet<string> = new Set(['updatedAt', 'lastTriggeredAt', 'lastDispatchedAt']);

/**
 * The fields of a change that differ from the fields of the entity in a GET reply. Throws a 400 if a read-only field
 * has another value.
 */
export function changedFields<Body extends object>(fields: TProperties, body: Body, entity: object): Partial<Body> {
  const now = JSON.parse(JSON.stringify(entity)) as JsonObject;
  const changed = Object.entries(body).filter(
    ([field, value]) => !outdated.has(field) && !isDeepStrictEqual(value, now[field]),
  );
  const readOnly = changed.find(([field]) => !Object.hasOwn(fields, field));
  if (readOnly !== undefined)
    throw badRequest(`${readOnly[0]} is read-only: omit it, or send the value that a GET returns`);
  return Object.fromEntries(changed) as Partial<Body>;
}
