import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { Route, GetRoute, PostRoute } from './route.ts';
import type { BodyBudget } from './incoming-body.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeOwner } from './exchange.ts';
import { IncomingBody } from './incoming-body.ts';
import { addressBusy, createReply, failure, hostileFraming, notFound } from './reply.ts';
import type { Reply } from './reply.ts';
import { allowPreflight } from '../../shared/admission/preflight.ts';
import { drainConnections } from '../../shared/runtime/drain-server.ts';
import type { DrainOptions, Drainable } from '../../shared/runtime/drain-server.ts';
import { readHead } from './request-head.ts';
import type { RequestLimits } from './request-limits.ts';
import { checkTlsFiles } from './http-settings.ts';
import type { TlsFiles } from './http-settings.ts';
import type { UwsModule } from './uws.ts';

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Lets other processes listen on the same port. */
  readonly sharePort: boolean;
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  readonly routes: readonly Route[];
  readonly budget: BodyBudget;
  /** Maximum number of clients' connections. */
  readonly connectionsMax: number;
  readonly requestLimits: RequestLimits;
  /**
   * Called for every request that ends. `route` is an index in `routes`; `routes.length` for a request without a route.
   */
  onEnded(route: number, code: number, tookMs: number): void;
  /** An unexpected failure of a request, which got a 500. */
  onFailure(error: unknown): void;
};

export type Server = {
  readonly port: number;
  /** Requests that wait for their answer. */
  readonly open: number;
  /** Clients' connections, idle ones included. */
  readonly connections: number;
  /** Connections closed on arrival because the limit was reached. */
  readonly refusedConnections: number;
  /** Disconnects the clients. Resolves once no request waits for its answer, at the latest after `deadlineMs`. */
  drain(options: DrainOptions): Promise<void>;
  /** Closes the remaining connections at once. */
  close(): void;
};

export class ListenError extends Error {
  readonly code = 'port_busy';
}

/** Serves the routes; every other address gets a 404, every other method of a route a 405. */
export async function startServer(uws: UwsModule, options: ServerOptions): Promise<Server> {
  const app = createEngine(uws, options.tls);
  const state = new ServerState(options);
  const noRoute = options.routes.length;
  options.routes.forEach((route, index) => {
    for (const path of route.paths) {
      const named = path.includes('/:');
      for (const pattern of [path, `${path}/`]) {
        if (route.method === 'post') {
          app.post(pattern, (response, request) => state.post(response, request, route, index, named));
        } else {
          app.get(pattern, (response, request) => state.get(response, request, route, index, named));
          app.head(pattern, (response, request) => state.head(response, request, route, index, named));
        }
        app.options(pattern, (response, request) => state.plain(response, request, index, preflight(request)));
        app.any(pattern, (response, request) => state.plain(response, request, index, wrongMethod(route)));
      }
    }
  });
  const byPath = pathsOf(options.routes);
  app.any('/*', (response, request) => {
    const doubled = request.getUrl().includes('//') ? byPath.get(singleSlashes(request.getUrl())) : undefined;
    if (doubled === undefined) return state.plain(response, request, noRoute, notFound);
    state.doubled(response, request, doubled.route, doubled.index);
  });
  app.filter((response, change) => state.connectionChanged(response, Number(change)));
  const socket = await listen(uws, app, options);
  const drainable: Drainable = {
    get open() {
      return state.open;
    },
    get connections() {
      return state.connections;
    },
    endConnections() {
      state.closing = true;
    },
    refuseNew: () => uws.us_listen_socket_close(socket),
  };
  return {
    port: uws.us_socket_local_port(socket),
    get open() {
      return state.open;
    },
    get connections() {
      return state.connections;
    },
    get refusedConnections() {
      return state.refusedConnections;
    },
    drain: (drainOptions) => drainConnections(drainable, drainOptions),
    close: () => void app.close(),
  };
}

type FoundRoute = { readonly route: Route; readonly index: number };

/** Routes by path, except paths with a parameter. */
function pathsOf(routes: readonly Route[]): ReadonlyMap<string, FoundRoute> {
  return new Map(
    routes.flatMap((route, index) =>
      route.paths.filter((path) => !path.includes(':')).map((path) => [path, { route, index }] as const),
    ),
  );
}

/** A path with repeated slashes merged into one, and without a slash at its end. */
const singleSlashes = (path: string): string => path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');

function createEngine(uws: UwsModule, tls: TlsFiles | undefined): TemplatedApp {
  if (tls === undefined) return uws.App();
  checkTlsFiles(tls);
  const { certFile, keyFile, passphrase } = tls;
  return uws.SSLApp({
    cert_file_name: certFile,
    key_file_name: keyFile,
    ...(passphrase === undefined ? {} : { passphrase }),
  });
}

class ServerState implements ExchangeOwner {
  closing = false;
  open = 0;
  connections = 0;
  refusedConnections = 0;
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** The engine names the address of an opened connection but not of a closed one, so only the total is limited. */
  connectionChanged(response: HttpResponse, change: number): void {
    this.connections += change;
    if (change < 0 || this.connections <= this.#options.connectionsMax) return;
    this.refusedConnections += 1;
    response.close();
  }

  exchangeEnded(exchange: Exchange, code: number): void {
    this.open -= 1;
    this.#options.requestLimits.ended(exchange);
    this.#options.onEnded(exchange.route, code, performance.now() - exchange.startedAtMs);
  }

  post(response: HttpResponse, request: HttpRequest, route: PostRoute, index: number, named: boolean): void {
    const exchange = this.#begin(response, request, index, route.readsHeaders);
    const refusal = this.#refusalOf(exchange);
    if (refusal !== undefined) return refuseUnread(response, exchange, refusal);
    const parameter = named ? (request.getParameter(0) ?? '') : '';
    const query = named || route.readsQuery ? queryOf(request) : '';
    const body = new IncomingBody(exchange, route, this.#options.budget, parameter, query);
    // Without a listener the engine ends the process when a client disconnects.
    response.onAborted(() => {
      body.drop();
      exchange.abort();
    });
    response.onData((chunk, isLast) => body.take(chunk, isLast));
    exchange.attempt(() => body.begin());
  }

  get(response: HttpResponse, request: HttpRequest, route: GetRoute, index: number, named: boolean): void {
    this.#get(this.#begin(response, request, index), response, request, route, named);
  }

  head(response: HttpResponse, request: HttpRequest, route: GetRoute, index: number, named: boolean): void {
    const exchange = this.#begin(response, request, index);
    exchange.headOnly = true;
    this.#get(exchange, response, request, route, named);
  }

  /**
   * Serves a path that matches a route except for doubled slashes: a client whose base address ends in a slash sends
   * it.
   */
  doubled(response: HttpResponse, request: HttpRequest, route: Route, index: number): void {
    const method = request.getMethod();
    if (method === 'options') this.plain(response, request, index, preflight(request));
    else if (method === 'post' && route.method === 'post') this.post(response, request, route, index, false);
    else if (method === 'get' && route.method === 'get') this.get(response, request, route, index, false);
    else if (method === 'head' && route.method === 'get') this.head(response, request, route, index, false);
    else this.plain(response, request, index, wrongMethod(route));
  }

  #get(exchange: Exchange, response: HttpResponse, request: HttpRequest, route: GetRoute, named: boolean): void {
    const refusal = this.#refusalOf(exchange);
    if (refusal !== undefined) return refuseUnread(response, exchange, refusal);
    const parameter = named ? (request.getParameter(0) ?? '') : '';
    const query = queryOf(request);
    response.onAborted(() => exchange.abort());
    exchange.attempt(() => route.accept(exchange, parameter, query));
  }

  plain(response: HttpResponse, request: HttpRequest, index: number, reply: Reply): void {
    const exchange = this.#begin(response, request, index);
    const refusal = this.#refusalOf(exchange);
    if (refusal === undefined) exchange.send(reply);
    else refuseUnread(response, exchange, refusal);
  }

  /** The refusal of a request by its headers and address; undefined if it may be served. */
  #refusalOf(exchange: Exchange): Reply | undefined {
    if (exchange.head.hostile) return hostileFraming;
    return this.#options.requestLimits.admit(exchange) ? undefined : addressBusy;
  }

  requestFailed(error: unknown): void {
    this.#options.onFailure(error);
  }

  #begin(response: HttpResponse, request: HttpRequest, index: number, keepsAll?: true): Exchange {
    this.open += 1;
    return new Exchange(this, response, readHead(request, keepsAll), index);
  }
}

/**
 * Answers later and then closes the connection. If more bytes arrive before the answer, the engine closes the
 * connection at once. After an immediate answer, the engine would read these bytes as a further request, so a client
 * could smuggle one in.
 */
function refuseUnread(response: HttpResponse, exchange: Exchange, refusal: Reply): void {
  response.onAborted(() => exchange.abort());
  setImmediate(() => exchange.send(refusal));
}

const preflight = (request: HttpRequest): Reply => {
  const asked = {
    requestHeaders: request.getHeader('access-control-request-headers'),
    requestPrivateNetwork: request.getHeader('access-control-request-private-network'),
  };
  return createReply(204, Buffer.alloc(0), { headers: allowPreflight(asked, 'GET, HEAD, POST, OPTIONS') });
};

const wrongMethod = (route: Route): Reply =>
  failure(405, 'method not allowed', { headers: [['allow', allowed(route).join(', ')]] });

const allowed = (route: Route): readonly string[] =>
  route.method === 'get' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS'];

async function listen(
  uws: UwsModule,
  app: ReturnType<UwsModule['App']>,
  options: ServerOptions,
): Promise<us_listen_socket> {
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // By default the engine shares a port with other listeners, so an old process would still receive half the traffic.
    if (options.sharePort) app.listen(options.host, options.port, resolve);
    else app.listen(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) {
    throw new ListenError(`port ${options.port} on ${options.host} is in use: set GATEWAY_PORT to a free one`);
  }
  return socket;
}

/** The engine returns undefined for an address without a `?`, although its types declare only a string. */
function queryOf(request: HttpRequest): string {
  const query: string | undefined = request.getQuery();
  return query ?? '';
}
