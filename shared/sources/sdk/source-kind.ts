import { createHash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { isEmail, readFormPerson, splitName } from './form-fields.ts';
import type { FormField } from './form-fields.ts';
import { compilePath, textAt, valueAt } from './path.ts';
import type { Path } from './path.ts';
import type { ProviderEvent } from './provider-event.ts';
import { readTime } from './read-time.ts';
import type { NoticeFetch } from './notice-fetch.ts';
import type { SignatureScheme } from './signature.ts';

/** Paths at which a value may be; the first path with a value counts. See compilePath. */
type Paths = readonly string[];

/** Where the known fields of a provider's events are. All other fields stay in the properties, uninterpreted. */
export type EventTable = {
  /** Paths, or a function that computes the name. Without a name the event is named after its source. */
  readonly name?: Paths | ((event: JsonObject) => string | undefined);
  /** The fields that together identify an event; if the first field has no value, the event has no id. */
  readonly id?: Paths | ((event: JsonObject) => string | undefined);
  /** Set if the provider sends later states with the same id, so that different content is a new event. */
  readonly idCoversContent?: boolean;
  readonly time?: Paths;
  readonly userId?: Paths;
  readonly externalId?: Paths;
  readonly email?: Paths;
  /** A full name, used if the first or last name is missing. */
  readonly fullName?: Paths;
  readonly traits?: Readonly<Record<string, Paths>>;
  readonly context?: Readonly<Record<string, Paths>>;
  readonly ip?: Paths;
  readonly userAgent?: Paths;
};

/** How a source kind is declared: see `defineSourceKind`. */
export type SourceKindDeclaration = {
  /** The type of its sources. */
  readonly type: string;
  readonly label: string;
  /** Where to enter our address at the provider. */
  readonly setUp: string;
  /** Notes for the set-up. */
  readonly notes?: string;
  /** Addresses of the documentation that the declaration follows. */
  readonly follows: readonly string[];
  /** How requests are authenticated; undefined if the provider does not sign, or signs in an undocumented way. */
  readonly signature?: SignatureScheme;
  readonly table: EventTable;
  /** The events of a body; by default the elements of an array, else the body. */
  split?(body: unknown): readonly unknown[];
  /** Normalises an event before it is read and kept: parses JSON texts, and removes secrets. */
  prepare?(event: JsonObject): JsonObject;
  /** Answers whose names the form's author chose. Fields in `table` take precedence. */
  fields?(event: JsonObject): Iterable<FormField>;
  /** Whether an event is an `identify`; by default every event is a `track`. */
  isIdentify?(event: JsonObject): boolean;
  /** The visitor's custom properties, if the value is an object. */
  custom?(event: JsonObject): unknown;
  /** The visitor's consent, if the value is an object. */
  consent?(event: JsonObject): unknown;
  /** The destinations that the sender allows, if the value is an object. */
  integrations?(event: JsonObject): unknown;
  /** The event's properties, if they are not the whole event. */
  properties?(event: JsonObject): unknown;
  /** Query parameters of the GET with which the provider verifies our address: the source key, and the text to echo. */
  readonly challenge?: { readonly token: string; readonly answer: string };
  /** Set if events are mere notifications; their objects are fetched if the source has a token. */
  readonly fetch?: NoticeFetch;
};

export type SourceKind = Omit<SourceKindDeclaration, 'table' | 'split' | 'prepare' | 'fields'> & {
  /** For the page of source kinds. */
  readonly table: EventTable;
  /** Whether the kind interprets answers by field name. */
  readonly readsFields: boolean;
  /** Reads the events of a body. Accepts every parsed JSON value; unreadable fields are left out. */
  readEvents(body: unknown): ProviderEvent[];
};

/** Maximum text length of visitor properties; a longer text stays in the event's properties only. */
const traitCharactersMax = 2_000;

/** Declares a source kind with a known body format. Each kind is one file and one line in the registry. */
export function defineSourceKind(declaration: SourceKindDeclaration): SourceKind {
  const { split: _split, prepare: _prepare, fields, ...rest } = declaration;
  return { ...rest, readsFields: fields !== undefined, readEvents: createEventReader(declaration) };
}

/** The members of a declaration that reading events needs. */
type ReaderDeclaration = Omit<SourceKindDeclaration, 'label' | 'setUp' | 'follows'>;

/**
 * Creates a function that reads the events of a body, see `SourceKind.readEvents`. It can also read data that a
 * provider does not deliver by webhook.
 */
export function createEventReader(declaration: ReaderDeclaration): (body: unknown) => ProviderEvent[] {
  const { split, prepare, fields, table } = declaration;
  const read = compileTable(table);
  const prefix = declaration.type.replace(/Webhooks?$/, '').toLowerCase();
  return (body) => {
    const parts = split?.(body) ?? (Array.isArray(body) ? (body as readonly unknown[]) : [body]);
    return parts.map((part) => {
      const whole = isJsonObject(part) ? part : { value: part };
      const event = prepare?.(whole) ?? whole;
      return readOne(declaration, read, prefix, event, fields?.(event) ?? []);
    });
  };
}

type CompiledTable = {
  readonly name: Reader;
  readonly id: (event: JsonObject) => string | undefined;
  readonly time: (event: JsonObject) => number | undefined;
  readonly text: Readonly<Record<(typeof textNames)[number], Reader>>;
  readonly traits: readonly (readonly [name: string, read: Reader])[];
  /** The paths of the traits. */
  readonly traitPaths: readonly (readonly [name: string, paths: readonly Path[]])[];
  readonly context: readonly (readonly [name: string, read: Reader])[];
};

type Reader = (event: JsonObject) => string | undefined;

const textNames = ['userId', 'externalId', 'fullName', 'ip', 'userAgent'] as const;

function compileTable(table: EventTable): CompiledTable {
  const { name, id, time = [], traits = {}, context = {} } = table;
  const timePaths = time.map(compilePath);
  return {
    name: typeof name === 'function' ? name : firstText(name),
    id: compileId(id),
    time: (event) => firstOf(timePaths, (path) => readTime(valueAt(event, path))),
    text: {
      userId: firstText(table.userId),
      externalId: firstText(table.externalId),
      fullName: firstText(table.fullName),
      ip: firstText(table.ip),
      userAgent: firstText(table.userAgent),
    },
    traits: [
      ['email', firstText(table.email, isEmail)],
      ...Object.entries(traits).map(([trait, paths]): [string, Reader] => [trait, firstText(paths)]),
    ],
    traitPaths: Object.entries({ ...traits, email: table.email ?? [] }).map(([trait, paths]) => [
      trait,
      paths.map(compilePath),
    ]),
    context: Object.entries(context).map(([field, paths]): [string, Reader] => [field, firstText(paths)]),
  };
}

function compileId(id: EventTable['id']): (event: JsonObject) => string | undefined {
  if (id === undefined || typeof id === 'function') return id ?? (() => undefined);
  const readers = id.map((path) => firstText([path]));
  return (event) => {
    const parts = readers.map((read) => read(event));
    return parts[0] === undefined ? undefined : parts.filter((part) => part !== undefined).join(':');
  };
}

function firstText(paths: Paths = [], takes: (text: string) => boolean = () => true): Reader {
  const compiled = paths.map(compilePath);
  return (event) =>
    firstOf(compiled, (path: Path) => {
      const text = textAt(event, path);
      return text !== undefined && takes(text) ? text : undefined;
    });
}

function firstOf<Value>(paths: readonly Path[], read: (path: Path) => Value | undefined): Value | undefined {
  for (const path of paths) {
    const value = read(path);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readOne(
  declaration: ReaderDeclaration,
  table: CompiledTable,
  prefix: string,
  event: JsonObject,
  fields: Iterable<FormField>,
): ProviderEvent {
  const person = readFormPerson(fields);
  const { email, ...found } = shortTexts(table.traits, event);
  const name = splitName(table.text.fullName(event));
  const isIdentify = declaration.isIdentify?.(event) === true;
  const cleared = isIdentify ? clearedBy(table, event) : {};
  const traits: Record<string, string | null> = {
    ...shorter({ first_name: name?.first, last_name: name?.last }),
    ...shorter(person.traits),
    ...found,
    ...cleared,
  };
  const properties = declaration.properties?.(event) ?? event;
  const id = table.id(event);
  return {
    kind: isIdentify ? 'identify' : 'track',
    name: table.name(event),
    id:
      id === undefined ? undefined : `${prefix}:${id}${declaration.table.idCoversContent ? `:${digestOf(event)}` : ''}`,
    timeMs: table.time(event),
    userId: table.text.userId(event),
    externalId: table.text.externalId(event),
    email: cleared['email'] === null ? undefined : (email ?? person.email),
    traits,
    custom: objectOf(declaration.custom?.(event)),
    context: shortTexts(table.context, event),
    ip: table.text.ip(event),
    userAgent: table.text.userAgent(event),
    consent: objectOf(declaration.consent?.(event)),
    integrations: objectOf(declaration.integrations?.(event)),
    properties: objectOf(properties) ?? {},
  };
}

/** The properties that an event clears: the first of their paths that leads to a value leads to null. */
function clearedBy({ traitPaths }: CompiledTable, event: JsonObject): Record<string, null> {
  const cleared = traitPaths.filter(([, paths]) => firstOf(paths, (path) => valueAt(event, path)) === null);
  return Object.fromEntries(cleared.map(([trait]) => [trait, null]));
}

const objectOf = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

function shortTexts(
  readers: readonly (readonly [name: string, read: Reader])[],
  event: JsonObject,
): Record<string, string> {
  return shorter(Object.fromEntries(readers.map(([name, read]) => [name, read(event)])));
}

function shorter(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined && text.length <= traitCharactersMax) kept[name] = text;
  }
  return kept;
}

/** Enough digits that two states of one object never collide. */
const digestOf = (event: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(event)).digest('base64url').slice(0, 22);

/** Paths of a page's advertising parameters, by parameter; `pathsOf` returns the paths of one parameter. */
export function campaignContext(pathsOf: (name: string) => Paths): Record<string, Paths> {
  return Object.fromEntries(campaignNames.map((name) => [name, pathsOf(name)]));
}

const campaignNames = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'gclid',
  'fbclid',
  'msclkid',
  'ttclid',
] as const;
