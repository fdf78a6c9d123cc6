import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

/** A way in: an address of the ingest interface and what is done with what comes through it. */
export type Route = PostRoute | GetRoute;

/** A part of an OpenAPI document: paths, and the schemas they name. */
export type OpenApiPart = {
  readonly paths: Readonly<Record<string, object>>;
  readonly schemas?: Readonly<Record<string, object>>;
};

type RouteBase = {
  /** Stands in metrics as the request's route. */
  readonly name: string;
  /** uWebSockets.js patterns; `:name` is one segment. A trailing slash is taken as well. */
  readonly paths: readonly string[];
  /** What the description of the ingest interface says of it. */
  readonly openapi: OpenApiPart;
  /** The document that describes it where that is not the one of the service's own interface. */
  readonly document?: string;
};

export type PostRoute = RouteBase & {
  readonly method: 'post';
  /** Whether the query is handed over also where the path has no parameter. */
  readonly readsQuery?: true;
  readonly bodyBytesMax: number;
  /** Lower-case names of headers it reads beside those every route gets: see RequestHead.more. */
  readonly headers?: ReadonlySet<string>;
  /** The answer to a request that is refused for its headers. */
  refuse(exchange: Exchange): Reply | undefined;
  /** `body` is gone when this returns. `parameter` is the path's segment, if it has one. */
  accept(exchange: Exchange, body: Buffer, parameter: string, query: string): void;
};

export type GetRoute = RouteBase & {
  readonly method: 'get';
  /** Also called for HEAD (`exchange.headOnly`), which gets the same answer without a body and must store no event. */
  accept(exchange: Exchange, parameter: string, query: string): void;
};
