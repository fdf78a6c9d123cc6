import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';

/** The used part of typebox's Validator. */
export type PayloadCheck = { Errors(value: unknown): TLocalizedValidationError[]; Type(): TSchema };

/**
 * Describes in one sentence why a payload failed its check: the path of the field and its rule. The sentence repeats
 * nothing of the payload except names of fields that the schema knows. `what` names the payload.
 */
export function describeProblem(check: PayloadCheck, payload: unknown, what = 'the body'): string {
  const error = check.Errors(payload)[0];
  if (error === undefined) return 'is not valid';
  if (error.keyword === 'required') return `${error.params.requiredProperties[0] ?? 'a field'} is required`;
  const segments = error.instancePath.split('/').slice(1);
  if (segments.length === 0) return `${what} must be a JSON object`;
  const rule = ruleAt(check.Type(), segments) ?? error.message;
  return `${segments.join('.')} ${rule}`;
}

function ruleAt(schema: TSchema, segments: readonly string[]): string | undefined {
  let found: SchemaNode | undefined = schema;
  for (const segment of segments) {
    const holder: SchemaNode | undefined = found?.properties === undefined ? found?.anyOf?.[0] : found;
    found = holder?.properties?.[segment];
  }
  return found?.description;
}

type SchemaNode = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
};
