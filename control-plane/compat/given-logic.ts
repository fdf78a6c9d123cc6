import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { logicSchema } from '../../shared/routing/predicate/logic-schema.ts';

/**
 * A condition as the platform library sends it: in Sluice's shape, or an empty object if the condition always applies.
 */
export const logicField = Type.Optional(nullable(logicSchema));

/** A rule's conditions in a reply: any JSON object, not validated. */
export const anyLogic = Type.Record(Type.String(), Type.Unknown());

/** The condition to store; null for an empty one. */
export function givenLogic(logic: JsonObject | null | undefined): JsonObject | null {
  const given = Object.entries(logic ?? {}).filter(([, part]) => part !== null && part !== undefined);
  return given.length === 0 ? null : Object.fromEntries(given);
}
