import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { logicSchema } from '../../shared/routing/predicate/logic-schema.ts';

/** A logic as the platform library sends it: ours, or an object that says nothing for one that always holds. */
export const logicField = Type.Optional(nullable(logicSchema));

/** A logic as it is answered. */
export const anyLogic = Type.Record(Type.String(), Type.Unknown());

/** Ours for it; null where it says nothing. */
export function givenLogic(logic: JsonObject | null | undefined): JsonObject | null {
  const said = Object.entries(logic ?? {}).filter(([, part]) => part !== null && part !== undefined);
  return said.length === 0 ? null : Object.fromEntries(said);
}
