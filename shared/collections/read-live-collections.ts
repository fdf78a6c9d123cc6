import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { AccountConfig, SnapshotEntity, UnreadableEntity } from '../contracts/config/account-config.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { Collection } from '../contracts/config/define-collection.ts';
import type { CollectionName, Registered } from './registry.ts';

/** `Value` with any text in place of its lists of words, since a newer build may have added a word. */
type Tolerant<Value> = Value extends string
  ? string
  : Value extends number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly Tolerant<Item>[]
      : Value extends object
        ? { readonly [Field in keyof Value]: Tolerant<Value[Field]> }
        : Value;

type BodyOf<Of extends Registered> = Of['reading'] extends 'exact' ? Static<Of['body']> : Tolerant<Static<Of['body']>>;

/** The collections of a live version, typed by their schemas. */
export type LiveCollections = {
  readonly [Of in Registered as Of['name']]: readonly (BodyOf<Of> & { readonly id: string })[];
};

/** An account's live configuration, with checked types. `Name` lists the collections that were read. */
export type LiveConfig<Name extends CollectionName = CollectionName> = AccountConfig<Pick<LiveCollections, Name>> & {
  /** Published entities that could not be read. A restriction that depends on such an entity must refuse. */
  readonly unreadable: readonly UnreadableEntity[];
};

/**
 * Reads the collections of a published configuration. During a rolling upgrade an older or a newer build may have
 * written it, and an entity that the other build accepted must not be lost over a formality:
 *
 * - a missing collection is empty, an unknown one is ignored;
 * - a missing field gets its collection's default; unknown fields are kept;
 * - limits and words are not checked again: they were checked when the entity was stored. Collections that are read
 *   exactly are the exception, see `Collection.reading`;
 * - an entity with a field of the wrong type is left out and listed, unless the field restricts nothing
 *   (`Collection.harmless`): then it gets its default, and is listed too.
 */
export function readLiveCollections<Name extends CollectionName>(
  config: AccountConfig,
  collections: readonly (Collection & { readonly name: Name })[],
): LiveConfig<Name> {
  const unreadable: UnreadableEntity[] = [];
  const read = collections.map((collection) => [
    collection.name,
    (config.collections[collection.name] ?? []).flatMap(readerOf(collection)(unreadable)),
  ]);
  // Each list was validated by the schema that defines the type.
  return { ...config, collections: Object.fromEntries(read) as Pick<LiveCollections, Name>, unreadable };
}

type ReadEntity = (unreadable: UnreadableEntity[]) => (entity: SnapshotEntity) => readonly SnapshotEntity[];

function createReader({ name, body, defaults, reading, harmless }: Collection): ReadEntity {
  const whole = reading === 'exact' ? Compile(body) : Compile(shapeOf(body) as typeof body);
  const fits = (entity: SnapshotEntity): boolean => whole.Check(entity);
  const isHarmless = new Set(harmless);
  return (unreadable) => (entity) => {
    // Nearly every entity is valid as it is, and returned unchanged.
    if (fits(entity)) return [entity];
    const given: SnapshotEntity = { ...defaults, ...entity };
    if (fits(given)) return [given];
    const fields = new Set(whole.Errors(given).map(fieldOf));
    const isDefaulted = [...fields].every((field) => isHarmless.has(field));
    for (const field of fields) unreadable.push({ collection: name, id: entity.id, field, entity, isDefaulted });
    if (!isDefaulted) return [];
    return [{ ...given, ...Object.fromEntries([...fields].map((field) => [field, defaults[field]])) }];
  };
}

type SchemaError = { readonly keyword: string; readonly instancePath: string; readonly params: object };

/** The field of an entity that an error is about. */
function fieldOf({ keyword, instancePath, params }: SchemaError): string {
  const [, field] = instancePath.split('/');
  if (field !== undefined) return field;
  const missing: unknown = keyword === 'required' && 'requiredProperties' in params ? params.requiredProperties : [];
  return Array.isArray(missing) && missing.length > 0 ? String(missing[0]) : '';
}

/** Keywords of a schema that define a type or its parts. */
const shape = ['type', 'properties', 'required', 'items', 'anyOf', 'patternProperties', 'const'] as const;

// Schemas compile once per process, when the first configuration is read.
const readers = new Map<string, ReadEntity>();

function readerOf(collection: Collection): ReadEntity {
  const known = readers.get(collection.name);
  if (known !== undefined) return known;
  const made = createReader(collection);
  readers.set(collection.name, made);
  return made;
}

/** Removes limits from a schema: what remains is what a TypeScript type can express. */
function shapeOf(schema: TSchema): TSchema {
  const node = schema as Readonly<Record<string, unknown>>;
  if (Array.isArray(node['enum'])) return { type: [...new Set(node['enum'].map((word) => typeof word))][0] };
  const kept = shape.flatMap((keyword) => (keyword in node ? [[keyword, inner(keyword, node[keyword])]] : []));
  return Object.fromEntries(kept) as TSchema;
}

function inner(keyword: (typeof shape)[number], value: unknown): unknown {
  switch (keyword) {
    case 'type':
      return value === 'integer' ? 'number' : value;
    case 'items':
      return shapeOf(value as TSchema);
    case 'anyOf':
      return (value as readonly TSchema[]).map(shapeOf);
    case 'properties':
    case 'patternProperties':
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part as TSchema)]))
        : value;
    case 'required':
    case 'const':
      return value;
  }
}
