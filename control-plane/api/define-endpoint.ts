import type { Pool } from 'pg';
import type { Static, TObject, TSchema } from 'typebox';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Client } from './client-of.ts';
import type { AccountLimits } from '../store/account-limits.ts';
import type { Paginator } from './pagination.ts';

export type EndpointInput<Query, Body> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
};

/** What every endpoint may use. A feature's own services come on top: its handlers say which. */
export type CoreServices = {
  readonly storage: Storage;
  /** PostgreSQL without the ORM: what the pipeline writes there. */
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  readonly paginator: Paginator;
  readonly limits: AccountLimits;
  now(): Date;
};

/** One operation of the configuration interface. What validates it also describes it. */
export type Endpoint<Services extends CoreServices = CoreServices> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters as `:name`. */
  readonly path: string;
  /** Whose requests it answers where another endpoint of the same address answers everybody else's; undefined: everybody's. */
  readonly client: Client | undefined;
  /** The scope a key needs; undefined: any key will do. */
  scope(params: Readonly<Record<string, string>>): string | undefined;
  /** A further scope that some queries need, given as the request brings them. */
  queryScope(query: Readonly<Record<string, unknown>>): string | undefined;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly query: TObject | undefined;
  readonly body: TSchema | undefined;
  /** A request without a body counts as one with `{}`. */
  readonly bodyOptional: boolean;
  /** Of a stream, each of its messages. */
  readonly reply: TSchema;
  /** `handle` answers a Feed, whose values go to the client as server-sent events until it leaves. */
  readonly streams: boolean;
  /** Whether it makes work for all services, so that an account may not have it done at any rate. */
  readonly isCostly: boolean;
  handle(input: EndpointInput<never, never>, services: Services): Promise<unknown>;
};

type Declared<Query extends TObject, Body extends TSchema, Services extends CoreServices> = Omit<
  Endpoint,
  'client' | 'scope' | 'queryScope' | 'query' | 'body' | 'bodyOptional' | 'streams' | 'isCostly' | 'handle'
> & {
  readonly client?: Client;
  readonly scope: string | undefined | Endpoint['scope'];
  readonly queryScope?: Endpoint['queryScope'];
  readonly streams?: boolean;
  readonly isCostly?: boolean;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyOptional?: boolean;
  handle(input: EndpointInput<Static<Query>, Static<Body>>, services: Services): Promise<unknown>;
};

/** Declares an endpoint; `handle` is given a query and a body that fit their schemas. */
export function defineEndpoint<
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Services extends CoreServices = CoreServices,
>(declared: Declared<Query, Body, Services>): Endpoint<Services> {
  const { scope } = declared;
  return {
    client: undefined,
    queryScope: () => undefined,
    bodyOptional: false,
    streams: false,
    isCostly: false,
    ...declared,
    query: declared.query,
    body: declared.body,
    scope: typeof scope === 'function' ? scope : () => scope,
    handle: declared.handle,
  };
}

/** Who makes a request: an API key, and the account it belongs to. */
export type Principal = {
  readonly accountId: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: readonly string[];
  /** When the key ends; null: when it is revoked. */
  readonly expiresAt: Date | null;
};
