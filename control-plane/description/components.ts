import type { TSchema } from 'typebox';
import { isJsonObject } from '../../shared/process/json.ts';
import type { JsonObject } from '../../shared/process/json.ts';

export type Components = {
  /** Schemas that others refer to, by name. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /** A schema as the document shows it: what it defines for itself becomes a component. */
  describe(schema: TSchema): JsonObject;
};

/** Collects the schemas that refer to themselves: OpenAPI keeps them in one place for the whole document. */
export function createComponents(): Components {
  const schemas: Record<string, JsonObject> = {};
  const rewrite = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(rewrite);
    if (!isJsonObject(node)) return node;
    const { $defs, $id: _id, ...rest } = node;
    if (isJsonObject($defs)) {
      for (const [name, definition] of Object.entries($defs)) schemas[name] ??= rewrite(definition) as JsonObject;
    }
    return Object.fromEntries(
      Object.entries(rest).map(([key, value]) => {
        const refers = key === '$ref' && typeof value === 'string' && !value.startsWith('#');
        return [key, refers ? `#/components/schemas/${value}` : rewrite(value)];
      }),
    );
  };
  return {
    schemas,
    // Through JSON, because a schema carries marks of its library that JSON does not show.
    describe: (schema) => rewrite(JSON.parse(JSON.stringify(schema))) as JsonObject,
  };
}
