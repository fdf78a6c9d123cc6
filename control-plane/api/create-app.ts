import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import type { Logger } from '../../shared/runtime/logger.ts';
import { comparesNothing } from './define-endpoint.ts';
import type { CoreServices, Endpoint, Principal } from './define-endpoint.ts';
import type { ApiError } from './api-error.ts';
import { forbidden, leftOut, notFound, unauthorized } from './api-error.ts';
import { readJson } from './checked-json.ts';
import { clientOf } from './client-of.ts';
import type { EventStreams, Feed } from './event-streams.ts';
import { answerFailure, failureOf } from './failure.ts';
import type { HttpCounts } from './http-counts.ts';
import { maskPersonal } from './mask-personal.ts';
import { httpsServerFactory } from './http-settings.ts';
import type { TlsTexts } from './http-settings.ts';
import type { Services } from './services.ts';
import { TextAnswer } from './text-answer.ts';
import { prepareInput } from './prepare-input.ts';
import type { Admitted, RequestLimits } from './request-limits.ts';

export type AppOptions = {
  readonly endpoints: readonly Endpoint[];
  /** Services of every endpoint. */
  readonly core: CoreServices;
  /** Services that endpoints declare in `uses`. */
  readonly services: Services;
  /** The principal of the request's key; undefined for an unknown key. */
  authenticate(request: IncomingMessage): Promise<Principal | undefined>;
  /** Repeats the check while the reply continues; it does not count as a login attempt. */
  authenticateAgain(request: IncomingMessage): Promise<Principal | undefined>;
  /** By account. */
  readonly requestLimits: RequestLimits;
  /** The first of a key's `scopes` that grants `scope`; undefined if none of them does. */
  grantingScope(scopes: readonly string[], scope: string): string | undefined;
  /** Whether keys without `pii:read` see only the shape of the account's personal values. */
  masksPersonalData(accountId: string): Promise<boolean>;
  /** Records a read before its reply is sent. Throws if it cannot be recorded. */
  auditRead(principal: Principal, read: AnsweredRead): Promise<void>;
  readonly logger: Logger;
  /** Undefined if the server uses plain HTTP. */
  readonly tls: TlsTexts | undefined;
  readonly counts: HttpCounts;
  readonly eventStreams: EventStreams;
  /**
   * A sentence that says why an address of another service is not served; undefined for every other unknown address.
   */
  whyMissing(path: string): string | undefined;
  /** Adds routes that need no key: descriptions and pages. */
  addPublicRoutes(app: FastifyInstance): void;
};

/** The record of a read. */
export type AnsweredRead = {
  readonly action: string;
  readonly entityId: string | undefined;
  readonly scope: string | undefined;
  readonly filters: readonly string[];
  readonly requestHash: string;
  readonly rows: number | undefined;
  readonly isMasked: boolean;
};

const bodyBytesMax = 1024 * 1024;
const requestTimeoutMs = 30_000;
const yearS = 31_536_000;
// A visitor's id may have 400 characters, each of them two units of a JavaScript string.
const pathParameterCharsMax = 1_024;

/** Creates the HTTP server of the configuration interface, which does not listen yet. */
export function createApp(options: AppOptions): FastifyInstance {
  const { counts } = options;
  const fail = (failure: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    answerFailure(failure, request, reply, options.logger);
  const app = fastify({
    genReqId: () => uuidv7(),
    ...(options.tls === undefined ? {} : { serverFactory: httpsServerFactory(options.tls, requestTimeoutMs) }),
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    exposeHeadRoutes: false,
    // Requests on a connection that is still open are answered while the service ends.
    return503OnClosing: false,
    // When the server closes, every request has been answered. Without this, connections that never had a request would
    // stay open.
    forceCloseConnections: true,
    routerOptions: {
      maxParamLength: pathParameterCharsMax,
      ignoreTrailingSlash: true,
      constraints: { [byClient.name]: byClient },
    },
    frameworkErrors: (error, request, reply) => void fail(failureOf(error), request, reply),
    clientErrorHandler: answerMalformedHttp,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, readJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    void reply.header('x-content-type-options', 'nosniff');
    void reply.header('cache-control', 'no-store');
    // Browsers ignore this header in an answer over plain HTTP.
    if (options.tls !== undefined || request.headers['x-forwarded-proto'] === 'https') {
      void reply.header('strict-transport-security', `max-age=${yearS}`);
    }
  });
  app.addHook('onRoute', ({ url, method }) => {
    for (const each of [method].flat()) counts.expect(url, each);
  });
  app.addHook('onResponse', async (request, reply) => {
    counts.count(request.routeOptions.url ?? 'unknown', request.method, reply.statusCode, reply.elapsedTime);
  });
  app.setErrorHandler((error, request, reply) => fail(failureOf(error), request, reply));
  app.setNotFoundHandler((request, reply) => {
    const reason = options.whyMissing(request.url);
    return fail(reason === undefined ? notFound('address') : leftOut(reason), request, reply);
  });
  options.addPublicRoutes(app);
  for (const endpoint of options.endpoints) addEndpoint(app, endpoint, options);
  return app;
}

/**
 * Route constraint for an endpoint that serves one kind of client, at the same address as the endpoint for all others.
 */
const byClient = {
  name: 'client',
  storage<Handler>() {
    const handlers = new Map<string, Handler>();
    return {
      get: (client: string) => handlers.get(client) ?? null,
      set: (client: string, handler: Handler) => void handlers.set(client, handler),
    };
  },
  validate: () => undefined,
  deriveConstraint: (request: { readonly headers: IncomingHttpHeaders }) => clientOf(request.headers) ?? 'any other',
};

type Entered = { readonly principal: Principal; readonly admitted: Admitted };

const entered = new WeakMap<FastifyRequest, Entered>();

function addEndpoint(
  app: FastifyInstance,
  endpoint: Endpoint,
  {
    core,
    services,
    authenticate,
    authenticateAgain,
    grantingScope,
    masksPersonalData,
    auditRead,
    requestLimits,
    eventStreams,
  }: AppOptions,
): void {
  const prepare = prepareInput(endpoint);
  const given = { ...core, ...services.valuesOf(endpoint.uses, endpoint.id) };
  const hasScope = (scopes: readonly string[], scope: string): boolean => grantingScope(scopes, scope) !== undefined;
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(endpoint.client === undefined ? {} : { constraints: { [byClient.name]: endpoint.client } }),
    // Authenticated before the body is read: without a valid key, no error may describe the body.
    onRequest: async (request, reply) => {
      const principal = await authenticate(request.raw);
      if (principal === undefined) throw unauthorized();
      const lacking = scopesOf(endpoint, request).find((scope) => !hasScope(principal.scopes, scope));
      if (lacking !== undefined) throw forbidden(lacking, principal.kind);
      const admitted = requestLimits.enter(principal.accountId);
      if (reply.raw.destroyed) admitted.leave();
      else reply.raw.once('close', () => admitted.leave());
      entered.set(request, { principal, admitted });
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const found = entered.get(request);
      if (found === undefined) throw unauthorized();
      const { principal, admitted } = found;
      const showsValues = endpoint.personal.length > 0 || endpoint.comparesPersonal !== comparesNothing;
      const mustMask = async ({ scopes, accountId }: Principal): Promise<boolean> =>
        showsValues && !hasScope(scopes, 'pii:read') && (await masksPersonalData(accountId));
      const isMasked = await mustMask(principal);
      if (isMasked && endpoint.comparesPersonal(request.query as Record<string, unknown>, request.body))
        throw forbidden('pii:read', principal.kind);
      const grantedBy = endpoint.scope === undefined ? undefined : grantingScope(principal.scopes, endpoint.scope);
      const input = { ...prepare(request), principal, grantedBy, isMasked };
      const result = await admitted.run(() => endpoint.handle(input, given as never), endpoint.isCostly);
      if (endpoint.audits !== undefined) {
        const { action, entity, entityOf } = endpoint.audits;
        const { params, query } = request as {
          readonly params: Record<string, string>;
          readonly query: Record<string, unknown>;
        };
        await auditRead(principal, {
          action,
          entityId: entity === undefined ? await entityOf?.(query, core.pool, principal.accountId) : params[entity],
          scope: grantedBy,
          filters: Object.keys(query).toSorted(),
          requestHash: hashRead(params, query),
          rows: rowsIn(result),
          isMasked,
        });
      }
      if (endpoint.streams) {
        // A stream may last for hours, and has its own limits.
        admitted.leave();
        const scopes = scopesOf(endpoint, request);
        const reader = {
          accountId: principal.accountId,
          async isValid() {
            const again = await authenticateAgain(request.raw);
            if (again === undefined || !scopes.every((scope) => hasScope(again.scopes, scope))) return false;
            return isMasked || !(await mustMask(again));
          },
        };
        return (
          reply
            .type('text/event-stream')
            .header('x-accel-buffering', 'no')
            // The connection closes with its stream: an open one would delay the shutdown of the service.
            .header('connection', 'close')
            .send(
              eventStreams.open(reader, isMasked ? maskedFeed(result as Feed, endpoint.personal) : (result as Feed)),
            )
        );
      }
      const mask = (value: unknown): unknown => (isMasked ? maskPersonal(value, endpoint.personal) : value);
      if (result instanceof TextAnswer) {
        return reply.type(result.contentType).headers(result.headers).send(result.text(mask));
      }
      const shown = mask(result);
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(shown));
    },
  });
}

const maskedFeed = (feed: Feed, members: readonly string[]): Feed => ({
  subscribe: (push) => feed.subscribe((value) => push(maskPersonal(value, members))),
});

/** Hash of what a request reads. The further pages of a list are one read. */
function hashRead(
  params: Readonly<Record<string, string>>,
  { cursor: _page, ...query }: Record<string, unknown>,
): string {
  return hash('sha256', JSON.stringify([params, query]));
}

/** Entities of a list, 1 for any other reply; undefined for a live stream. */
function rowsIn(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null || 'subscribe' in result) return undefined;
  return 'entities' in result && Array.isArray(result.entities) ? result.entities.length : 1;
}

/** The scopes that a request to an endpoint needs. */
function scopesOf(endpoint: Pick<Endpoint, 'scope' | 'queryScope'>, { query }: FastifyRequest): string[] {
  const scopes = [endpoint.scope, endpoint.queryScope(query as Record<string, unknown>)];
  return scopes.filter((scope) => scope !== undefined);
}

function answerMalformedHttp(_error: Error, socket: Socket): void {
  if (!socket.writable) return;
  const body = JSON.stringify({ error: 'the request is not well-formed HTTP' });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}
