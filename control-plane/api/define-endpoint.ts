import type { Pool } from 'pg';
import type { Static, TObject, TSchema } from 'typebox';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { AccountLimits } from '../store/account-limits.ts';
import type { Client } from './client-of.ts';
import type { Paginator } from './pagination.ts';
import type { ServiceValues, Uses } from './services.ts';

/** One value for each `{name}` of a path. */
export type PathParams<Path extends string> = { readonly [Name in ParamName<Path>]: string };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

export type EndpointInput<Path extends string, Query, Body> = {
  readonly params: PathParams<Path>;
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
  /** The scope of the key that allows the request. */
  readonly grantedBy: string | undefined;
  /** Whether `personal` is masked in the reply. */
  readonly isMasked: boolean;
};

/** Services that every endpoint may use. An endpoint declares others in `uses`. */
export type CoreServices = {
  readonly storage: Storage;
  /** PostgreSQL without the ORM: the tables that the pipeline writes. */
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  readonly paginator: Paginator;
  readonly limits: AccountLimits;
  now(): Date;
};

/**
 * One operation of the configuration interface. Its schemas validate requests, and its OpenAPI description derives from
 * them.
 */
export type Endpoint = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters as `{name}`. */
  readonly path: string;
  /**
   * Set if this endpoint answers only one kind of client, and another endpoint with the same address answers all
   * others.
   */
  readonly client: Client | undefined;
  /** The scope that a key needs; undefined if any key will do. */
  readonly scope: string | undefined;
  /** A second scope that some queries need. Called with the query before it is validated. */
  queryScope(query: Readonly<Record<string, unknown>>): string | undefined;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly query: TObject | undefined;
  readonly body: TSchema | undefined;
  /** Whether a request without a body counts as a request with the body `{}`. */
  readonly bodyOptional: boolean;
  /** For a stream, the schema of each of its messages. */
  readonly reply: TSchema;
  /** `handle` returns a Feed, whose values are sent as server-sent events until the client disconnects. */
  readonly streams: boolean;
  /**
   * Marks an endpoint that causes work in all services: an account may call such endpoints only a few times a second.
   */
  readonly isCostly: boolean;
  readonly uses: Uses;
  /** Records each read in the audit trail. Undefined: the reply has no personal data, or `handle` records the read. */
  readonly audits: Audits | undefined;
  /** Members of the reply whose values are masked for keys without `pii:read`, if the account masks personal data. */
  readonly personal: readonly string[];
  /**
   * Whether a request compares stored values with something that the caller chooses: a value, or rules that are not
   * live. If values are masked, such a request is refused, because its reply would show which visitors have a value.
   */
  comparesPersonal(query: Readonly<Record<string, unknown>>, body: unknown): boolean;
  handle(input: EndpointInput<never, never, never>, services: never): Promise<unknown>;
};

/** How reads of an endpoint are recorded. */
export type Audits = {
  readonly action: string;
  /** The parameter of the path that identifies the entity read. */
  readonly entity?: string;
  /** Id of the entity that was read, if the query names it. */
  entityOf?(query: Readonly<Record<string, unknown>>, pool: Pool, accountId: string): Promise<string | undefined>;
};

type Defaulted =
  | 'client'
  | 'queryScope'
  | 'query'
  | 'body'
  | 'bodyOptional'
  | 'streams'
  | 'isCostly'
  | 'uses'
  | 'audits'
  | 'personal'
  | 'comparesPersonal';

type Declared<Path extends string, Query extends TObject, Body extends TSchema, Used extends Uses> = Omit<
  Endpoint,
  Defaulted | 'path' | 'handle'
> & {
  readonly path: Path;
  readonly client?: Client;
  readonly queryScope?: Endpoint['queryScope'];
  readonly streams?: boolean;
  readonly isCostly?: boolean;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyOptional?: boolean;
  readonly uses?: Used;
  readonly audits?: Audits;
  readonly personal?: Endpoint['personal'];
  readonly comparesPersonal?: Endpoint['comparesPersonal'];
  handle(
    input: EndpointInput<Path, Static<Query>, Static<Body>>,
    services: CoreServices & ServiceValues<Used>,
  ): Promise<unknown>;
};

/**
 * Declares an endpoint. `handle` gets the parameters of its path, a query and a body that fit their schemas, and the
 * services of `uses` in addition to the core ones:
 *
 *     defineEndpoint({
 *       method: 'GET',
 *       path: '/rest/v1/destinations/{id}/backlog',
 *       scope: 'destination:find',
 *       uses: { logFigures },
 *       …
 *       async handle({ params, principal }, { storage, logFigures }) {
 *         const { id } = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
 *         return (await logFigures.read()).backlogOf(id);
 *       },
 *     })
 */
export function defineEndpoint<
  const Path extends string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  // oxlint-disable-next-line typescript/no-empty-object-type -- an endpoint that declares no services
  Used extends Uses = {},
>(declared: Declared<Path, Query, Body, Used>): Endpoint {
  return {
    client: undefined,
    queryScope: () => undefined,
    bodyOptional: false,
    streams: false,
    isCostly: false,
    audits: undefined,
    personal: [],
    comparesPersonal: comparesNothing,
    ...declared,
    uses: declared.uses ?? {},
    query: declared.query,
    body: declared.body,
  };
}

/** The default of `comparesPersonal`. */
export const comparesNothing = (): boolean => false;

/** `tool` is a command at a shell, or the service itself at its start. */
export type PrincipalKind = 'key' | 'user' | 'tool';

/** The caller of a request, within one account. */
export type Principal = {
  readonly accountId: string;
  readonly kind: PrincipalKind;
  /** Id of the API key or the user. */
  readonly id: string;
  /** Name of the API key, e-mail address of the user. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** Expiry of an API key; null if it never expires. */
  readonly expiresAt: Date | null;
};
