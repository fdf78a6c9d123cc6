/**
 * The contract for clients' payloads: one row per field. The schemas, the OpenAPI document, the scanner that finds
 * plain events, the members that the resolver reads, and the names in property tests derive from it. A new field is one
 * row here and one line where it is used; `payload-fields.test.ts` of the resolver fails if either is missing.
 */

/** What values a field may have. An optional field may be null as well. */
type FieldRule =
  /** 1 to `charactersMax` characters. */
  | 'text'
  /** Milliseconds since 1970. */
  | 'time'
  /** Any JSON object. */
  | 'object'
  /** A visitor's properties: those in `visitorTextFields` are texts, those in `visitorObjectFields` are objects. */
  | 'visitor'
  /** The visitor's address and User-Agent, with the members in `networkFields`. */
  | 'network'
  /** The rows of a batch. Each row is checked separately. */
  | 'rows'
  /** Anything. */
  | 'any';

/** How the resolver reads a field. A plain event is copied as bytes; an event with a `parsed` field is parsed. */
export type ResolverReading =
  | 'text'
  | 'time'
  | 'properties'
  | 'defaultProperties'
  | 'integrations'
  | 'parsed'
  /** Only the gateway reads the field; the resolver finds its content in the head of the line. */
  | 'unread';

type Presence = 'required' | 'optional';
export type PayloadKind = 'track' | 'identify' | 'row' | 'batch';

export type PayloadField = {
  readonly rule: FieldRule;
  /** Maximum length of a text. */
  readonly charactersMax?: number;
  readonly resolver: ResolverReading;
  /** Description in the OpenAPI document. */
  readonly about: string;
} & { readonly [Kind in PayloadKind]?: Presence };

const everywhere = { track: 'optional', identify: 'optional', row: 'optional', batch: 'optional' } as const;
const ofEvents = { track: 'optional', row: 'optional' } as const;
const ofPeople = { track: 'optional', identify: 'optional', row: 'optional' } as const;

export const payloadFields = {
  token: {
    rule: 'text',
    charactersMax: 250,
    track: 'required',
    identify: 'required',
    batch: 'required',
    resolver: 'unread',
    about: 'The source key',
  },
  event: {
    rule: 'text',
    charactersMax: 1000,
    track: 'required',
    row: 'required',
    resolver: 'text',
    about: 'Name of the event',
  },
  distinctId: {
    rule: 'text',
    charactersMax: 400,
    track: 'optional',
    row: 'required',
    resolver: 'unread',
    about: 'Id of the event: a retry with the same id is processed once',
  },
  userId: {
    rule: 'text',
    charactersMax: 400,
    ...ofPeople,
    resolver: 'text',
    about: 'Id of a device, or the id of the visitor in Sluice',
  },
  externalId: { rule: 'text', charactersMax: 400, ...ofPeople, resolver: 'text', about: 'Your id of the person' },
  email: { rule: 'text', charactersMax: 1000, ...ofPeople, resolver: 'text', about: "The person's e-mail address" },
  time: { rule: 'time', ...ofEvents, resolver: 'time', about: 'When the event happened. Default: when it arrives' },
  eventProperties: { rule: 'object', ...ofEvents, resolver: 'properties', about: 'What happened' },
  properties: {
    rule: 'object',
    ...ofEvents,
    resolver: 'properties',
    about: 'The same as eventProperties, which take precedence',
  },
  userProperties: {
    rule: 'visitor',
    track: 'optional',
    identify: 'required',
    row: 'optional',
    resolver: 'parsed',
    about: 'Properties of the visitor',
  },
  custom_properties: {
    rule: 'object',
    ...everywhere,
    resolver: 'parsed',
    about: 'Properties of the visitor under names of your own',
  },
  defaultProperties: {
    rule: 'object',
    ...everywhere,
    resolver: 'defaultProperties',
    about: 'Context of the event: page, campaign, device',
  },
  identityContext: {
    rule: 'network',
    ...everywhere,
    resolver: 'parsed',
    about: "The visitor's address and User-Agent, if a server sends the event",
  },
  consent: {
    rule: 'any',
    ...ofPeople,
    resolver: 'parsed',
    about: 'What the visitor allows: an object of purposes and booleans',
  },
  integrations: {
    rule: 'any',
    ...ofPeople,
    resolver: 'integrations',
    about: 'Destinations that get the event, by name or kind: an object of booleans; `All` stands for the others',
  },
  userHash: {
    rule: 'any',
    ...ofPeople,
    resolver: 'text',
    about:
      'Signs the identifier of an event that is sent with a public key: HMAC-SHA256, in hex, of its externalId, else userId, else e-mail address (trimmed, in lower case), keyed with the secret of the source. The event then counts as sent by a server; with a wrong hash it is accepted as sent with a public key',
  },
  events: { rule: 'rows', batch: 'required', resolver: 'unread', about: 'The events' },
} as const satisfies Readonly<Record<string, PayloadField>>;

type Fields = typeof payloadFields;
export type PayloadFieldName = keyof Fields;

/** The rows of the table as a list, with their names. */
export const payloadFieldRows: readonly (PayloadField & { readonly name: PayloadFieldName })[] = Object.entries(
  payloadFields,
).map(([name, field]) => ({ name: name as PayloadFieldName, ...field }));

type NamesWhere<Key extends PropertyKey, Value> = {
  [Name in PayloadFieldName]: Fields[Name] extends Readonly<Record<Key, Value>> ? Name : never;
}[PayloadFieldName];

/** Names of the fields that the table declares with the rule `text`. */
export type TextFieldName = NamesWhere<'rule', 'text'>;
/** Names of the fields that the resolver reads as texts. */
export type ResolverTextName = NamesWhere<'resolver', 'text'>;
/** Names of all fields that the resolver reads. */
export type ResolverFieldName = NamesWhere<'resolver', Exclude<ResolverReading, 'unread'>>;

export const namesWhere = <Key extends keyof PayloadField>(key: Key, value: PayloadField[Key]) =>
  payloadFieldRows.filter((field) => field[key] === value).map(({ name }) => name);

export const textFieldNames = namesWhere('rule', 'text') as readonly TextFieldName[];
export const resolverTextNames = namesWhere('resolver', 'text') as readonly ResolverTextName[];

/** Maximum length of each text field of a payload, in characters, by field name. */
export const textCharactersMax = Object.fromEntries(
  textFieldNames.map((name) => [name, payloadFields[name].charactersMax]),
) as { readonly [Name in TextFieldName]: Fields[Name]['charactersMax'] };

/** Maximum characters of the visitor properties with a defined meaning that are texts; these may be empty. */
export const visitorTextCharactersMax = 2000;
export const visitorTextFields = [
  'email',
  'first_name',
  'last_name',
  'gender',
  'date_of_birth',
  'phone_number',
  'city',
  'state',
  'zip',
  'country',
  'external_id',
  'company_name',
  'job_title',
  'ip',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'fbclid',
  'gclid',
  'ttclid',
  'msclkid',
] as const;
export const visitorObjectFields = ['consent', 'custom_properties'] as const;
export const networkFields = ['ip', 'userAgent'] as const;

type ValueOf = {
  text: string;
  time: number;
  object: object;
  visitor: { [Name in (typeof visitorTextFields)[number]]?: string | null } & {
    [Name in (typeof visitorObjectFields)[number]]?: object | null;
  };
  network: { [Name in (typeof networkFields)[number]]?: string | null };
  rows: unknown[];
  any: unknown;
};

/** A payload that passed its check. Keys outside of the table are kept. */
export type PayloadOf<Kind extends PayloadKind> = {
  [Name in NamesWhere<Kind, 'required'>]: ValueOf[Fields[Name]['rule']];
} & { [Name in NamesWhere<Kind, 'optional'>]?: ValueOf[Fields[Name]['rule']] | null };
