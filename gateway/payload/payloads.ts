import { Type } from 'typebox';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  networkFields,
  payloadFieldRows,
  visitorObjectFields,
  visitorTextCharactersMax,
  visitorTextFields,
} from '../../shared/contracts/ingest/payload-fields.ts';
import type { PayloadField, PayloadKind, PayloadOf } from '../../shared/contracts/ingest/payload-fields.ts';

export type TrackPayload = PayloadOf<'track'>;
export type IdentifyPayload = PayloadOf<'identify'>;
/** One row of a batch: a track payload without a token of its own, with an id of its own. */
export type BatchRow = PayloadOf<'row'>;
/** Body of `POST /api/v1/batch`. Its rows are checked one by one. */
export type BatchPayload = PayloadOf<'batch'>;

/** The schema of a required field's value. `rule` is the part of an answer that describes what the value must be. */
function valueSchema({ rule, charactersMax = 0 }: PayloadField): { readonly schema: TSchema; readonly rule: string } {
  switch (rule) {
    case 'text':
      return {
        schema: Type.String({ minLength: 1, maxLength: charactersMax }),
        rule: `must be a string of 1 to ${charactersMax} characters`,
      };
    case 'time':
      return { schema: Type.Number(), rule: 'must be a number of milliseconds since 1970' };
    case 'object':
      return { schema: Type.Object({}), rule: 'must be an object' };
    case 'visitor':
      return { schema: visitorProperties(), rule: 'must be an object' };
    case 'network':
      return { schema: membersOf(networkFields, visitorText()), rule: 'must be an object with ip and userAgent,' };
    case 'rows':
      return { schema: Type.Array(Type.Unknown()), rule: 'must be an array' };
    case 'any':
      return { schema: Type.Unknown(), rule: 'may be anything' };
  }
}

const orNull = (schema: TSchema, rule: string): TSchema =>
  Type.Union([schema, Type.Null()], { description: `${rule} or null` });

/** A text that may be empty, because an empty visitor property is ignored, not refused. */
const visitorText = (): TSchema =>
  orNull(
    Type.String({ maxLength: visitorTextCharactersMax }),
    `must be a string of at most ${visitorTextCharactersMax} characters`,
  );

const membersOf = (names: readonly string[], schema: TSchema): TObject =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(schema)])));

const visitorProperties = (): TObject =>
  Type.Object({
    ...membersOf(visitorTextFields, visitorText()).properties,
    ...membersOf(visitorObjectFields, orNull(Type.Object({}), 'must be an object')).properties,
  });

function fieldSchema(field: PayloadField, kind: PayloadKind): TSchema {
  const { schema, rule } = valueSchema(field);
  if (field[kind] === 'required') return { ...schema, description: rule };
  return Type.Optional(field.rule === 'any' ? { ...schema, description: rule } : orNull(schema, rule));
}

const schemaOf = (kind: PayloadKind): TObject =>
  Type.Object(
    Object.fromEntries(
      payloadFieldRows
        .filter((field) => field[kind] !== undefined)
        .map((field) => [field.name, fieldSchema(field, kind)]),
    ),
  );

const compile = <Kind extends PayloadKind>(kind: Kind) => Compile(Type.Unsafe<PayloadOf<Kind>>(schemaOf(kind)));

export const trackPayload = compile('track');
export const identifyPayload = compile('identify');
export const batchRow = compile('row');
export const batchPayload = compile('batch');

/** A payload in the OpenAPI document: the schema of its check, with descriptions of the fields. */
export function describePayload(kind: PayloadKind): TObject {
  const schema = schemaOf(kind);
  const about = new Map<string, string>(payloadFieldRows.map((field) => [field.name, field.about]));
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const { description } = field as { readonly description?: string };
    return [name, { ...field, description: `${about.get(name) ?? name}: ${description ?? ''}` }] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
