import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

/** An address of the ingest interface and the handling of its requests. */
export type Route = PostRoute | GetRoute;

/** A part of an OpenAPI document: paths, and the schemas they name. */
export type OpenApiPart = {
  readonly paths: Readonly<Record<string, object>>;
  readonly schemas?: Readonly<Record<string, object>>;
};

type RouteBase = {
  /** The request's route in metrics. */
  readonly name: string;
  /** uWebSockets.js patterns; `:name` is one segment. A trailing slash is accepted as well. */
  readonly paths: readonly string[];
  /** The route's part of its OpenAPI document. */
  readonly openapi: OpenApiPart;
  /** The OpenAPI document that describes the route. Default: the document of the service's own interface. */
  readonly document?: string;
};

export type PostRoute = RouteBase & {
  readonly method: 'post';
  /** Whether the query is passed on even if the path has no parameter. */
  readonly readsQuery?: true;
  readonly bodyBytesMax: number;
  /** Reads further headers: see RequestHead.more. */
  readonly readsHeaders?: true;
  /** The answer to a request whose headers are refused. */
  refuse(exchange: Exchange): Reply | undefined;
  /**
   * Copy `body` if it is needed later: the engine reuses its bytes after this call. `parameter` is the path's segment,
   * if it has one.
   */
  accept(exchange: Exchange, body: Buffer, parameter: string, query: string): void;
};

export type GetRoute = RouteBase & {
  readonly method: 'get';
  /** Also called for HEAD (`exchange.headOnly`), which gets the same answer without a body and must store no event. */
  accept(exchange: Exchange, parameter: string, query: string): void;
};
