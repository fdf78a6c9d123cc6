import { Type } from 'typebox';
import type { Static, TObject, TSchema, TUnion, TNull } from 'typebox';
import type { JsonObject } from '../../runtime/json.ts';

/** A field that refers to entities of another collection; `ids` reads their ids from a body. */
export type Reference = {
  readonly field: string;
  /** Name of the collection that the ids refer to. */
  readonly collection: string;
  ids(body: JsonObject): readonly string[];
};

/** A problem that a schema cannot express, and the field that has it. */
export type FieldProblem = { readonly field: string; readonly problem: string };

/** How entities that another build stored are read: see `readLiveCollections`. */
export type Reading = 'tolerant' | 'exact';

/** One collection of the configuration. Each has its own file, and one line in the registry. */
export type Collection<Name extends string = string, Body extends TObject = TObject, How extends Reading = Reading> = {
  readonly name: Name;
  /** The word for one entity, in messages and documents. */
  readonly noun: string;
  /** How a new entity gets its id: a UUID, or a slug of its name. */
  readonly ids: 'uuid' | 'slug';
  /** Whether an account has at most one entity of the collection. */
  readonly single: boolean;
  /** Whether no two entities may have the same name, ignoring case. */
  readonly uniqueNames: boolean;
  /** Fields whose values must be different in all entities. */
  readonly uniqueFields: readonly string[];
  /** All fields of a stored entity, apart from its id. */
  readonly body: Body;
  /** Values of the fields a client may leave out when it creates an entity. */
  readonly defaults: JsonObject;
  /**
   * If `exact`, an entity is used only if it fits the whole schema of this build, including limits and lists of words.
   * This is for entities that would cause harm if only a part of them took effect.
   */
  readonly reading: How;
  /** Fields that restrict nothing: if this build cannot read the value, the default is used instead. */
  readonly harmless: readonly string[];
  /** Fields that are set at creation and never change: a PATCH ignores them. */
  readonly fixed: readonly string[];
  /** Fields that only the service sets: refused at creation, and ignored in a PATCH. */
  readonly readOnly: readonly string[];
  /** Whether a new version may include only some of the collection's entities, listed by id in `include`. */
  readonly allowlisted: boolean;
  /** Fields by which a list can be filtered. */
  readonly filters: readonly string[];
  readonly references: readonly Reference[];
  /** Values that the service sets in a new entity: a token, for example. */
  generate(randomText: (length: number) => string): JsonObject;
  /** How a diff shows an entity. */
  describe(body: JsonObject): { readonly type: string; readonly summary: string };
};

type Declared<Name extends string, Body extends TObject> = Pick<Collection<Name, Body>, 'name' | 'noun' | 'body'> &
  Partial<Omit<Collection<Name, Body>, 'reading'>>;

/**
 * Declares a collection; a property that is left out has the default below.
 *
 * ```ts
 * export const exampleNotes = defineCollection({
 *   name: 'exampleNotes',
 *   noun: 'example note',
 *   uniqueNames: true,
 *   body: Type.Object({ name: nameField, status: enabledStatus }),
 *   defaults: { status: 'Enabled' },
 *   filters: ['status'],
 * });
 * ```
 */
export function defineCollection<const Name extends string, Body extends TObject, How extends Reading = 'tolerant'>(
  declared: Declared<Name, Body> & { readonly reading?: How },
): Collection<Name, Body, How> {
  return {
    reading: 'tolerant' as How,
    harmless: [],
    ids: 'uuid',
    single: false,
    uniqueNames: false,
    uniqueFields: [],
    defaults: {},
    fixed: [],
    readOnly: [],
    allowlisted: true,
    filters: [],
    references: [],
    generate: () => ({}),
    describe: (body) => ({ type: textOf(body['type']), summary: '' }),
    ...declared,
  };
}

/** Returns a text unchanged, and an empty text for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export const nullable = <Schema extends TSchema>(schema: Schema): TUnion<[Schema, TNull]> =>
  Type.Union([schema, Type.Null()]);

export const nameField = Type.String({ minLength: 1, maxLength: 250 });
export const descriptionField = nullable(Type.String({ maxLength: 2_000 }));
export const enabledStatus = Type.Enum(['Enabled', 'Disabled']);
export type EnabledStatus = Static<typeof enabledStatus>;

/** A list of at most `idsMax` ids of entities, without repetitions. */
export const idList = (idsMax = 1_000): ReturnType<typeof Type.Array<ReturnType<typeof Type.String>>> =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: idsMax, uniqueItems: true });

/** A reference in a field that contains one id, a list of ids, or null. */
export function references(field: string, collection: string): Reference {
  return {
    field,
    collection,
    ids(body) {
      const value = body[field];
      if (typeof value === 'string') return [value];
      return Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string') : [];
    },
  };
}
