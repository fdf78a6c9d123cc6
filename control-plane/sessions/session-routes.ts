import type { IncomingMessage } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ApiError, badRequest, unauthorized } from '../api/api-error.ts';
import type { PublicOperations } from '../api/build-openapi.ts';
import { compileCheck } from '../api/prepare-input.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Authenticate } from '../keys/authenticate.ts';
import type { LogIn } from '../keys/log-in.ts';
import { endSession, endSessionsOfKey, liveSessions, startSession } from './live-sessions.ts';
import { clearSession, readSession, sessionAccountsMax, writeSession } from './session-cookie.ts';
import type { Session } from './session-cookie.ts';
import { sessionReply, viewSignedIn } from './session-view.ts';
import { redeemSignInLink } from './sign-in-links.ts';

export type SessionRoutesOptions = Pick<CoreServices, 'storage' | 'secretBox' | 'now'> & {
  readonly authenticate: Authenticate;
  /** How long a browser stays signed in, in ms. */
  readonly sessionMs: number;
  readonly logIn: LogIn;
  /** Does what is asked before anybody is known, in the share of the request's address. */
  amongLogins<Result>(request: IncomingMessage, work: () => Promise<Result>): Promise<Result>;
  /** Whether browsers reach this service over TLS and nothing else. */
  readonly isTls: boolean;
  /** Ends the live streams of an account whose sign-in has ended. */
  recheckStreams(accountId: string): Promise<void>;
};

/** What another site cannot send without leave, so that none can sign a browser in or out. */
const consoleHeader = 'x-sluice-console';

const path = '/rest/v1/session';
/** Of a request before sign-in: a key or a code. */
const bodyBytesMax = 4_096;
const keyBody = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 200, description: 'An API key: slk_…' }) },
  { additionalProperties: false },
);
const codeBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 200, description: 'What stands behind # in a sign-in link.' }) },
  { additionalProperties: false },
);

/** The session of a browser: a cookie, made of API keys here and opened here. */
export function addSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { storage, secretBox, authenticate, logIn, now, amongLogins } = options;
  const checkKey = compileCheck(keyBody);
  const checkCode = compileCheck(codeBody);
  const answer = async (
    reply: FastifyReply,
    em: EntityManager,
    session: Session | undefined,
  ): Promise<FastifyReply> => {
    const found: JsonObject[] = [];
    const keys = session?.keys ?? [];
    const live = await liveSessions(
      em,
      keys.map(({ id }) => id),
      now(),
    );
    for (const { id, key } of keys) {
      if (!live.has(id)) continue;
      const principal = await authenticate(em, `Bearer ${key}`, now());
      if (principal !== undefined) found.push(await viewSignedIn(em, principal));
    }
    return reply.type('application/json; charset=utf-8').send(JSON.stringify({ accounts: found }));
  };
  const signIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { key, mayBeGuessed }: { readonly key: string; readonly mayBeGuessed: boolean },
  ): Promise<FastifyReply> => {
    const em = storage.fork();
    const at = now();
    const principal = await logIn(em, request.raw, `Bearer ${key}`, at, mayBeGuessed);
    if (principal === undefined) throw unauthorized();
    const { accountId } = principal;
    const before = readSession(request.headers, secretBox, at.getTime())?.keys ?? [];
    const others = before.filter((one) => one.accountId !== accountId);
    if (others.length >= sessionAccountsMax) {
      throw badRequest(`a browser is signed in to ${sessionAccountsMax} accounts at most: sign out of one`);
    }
    const expiresAt = new Date(at.getTime() + options.sessionMs);
    const id = await em.transactional(async (inner) => {
      recordAudit(inner, principal, { action: 'session.create' }, at);
      // The browser has no cookie of that sign-in any more, so it could not sign out of it.
      for (const one of before) if (one.accountId === accountId) await endSession(inner, one.id);
      return startSession(inner, { accountId, keyId: principal.keyId, expiresAt }, at);
    });
    const session: Session = { v: 1, untilMs: expiresAt.getTime(), keys: [...others, { accountId, key, id }] };
    void reply.header('set-cookie', writeSession(session, secretBox, at.getTime(), isSecure(request, options)));
    return answer(reply, em, session);
  };
  app.get(path, (request, reply) => {
    fromConsole(request);
    const session = readSession(request.headers, secretBox, now().getTime());
    return amongLogins(request.raw, () => answer(reply, storage.fork(), session));
  });
  app.post(path, { bodyLimit: bodyBytesMax }, (request, reply) => {
    fromConsole(request);
    checkKey(request.body);
    const { key } = request.body as Static<typeof keyBody>;
    return amongLogins(request.raw, () => signIn(request, reply, { key, mayBeGuessed: true }));
  });
  app.post(`${path}/redeem`, { bodyLimit: bodyBytesMax }, (request, reply) => {
    fromConsole(request);
    checkCode(request.body);
    const { code } = request.body as Static<typeof codeBody>;
    return amongLogins(request.raw, async () => {
      const key = await redeemSignInLink(storage.fork(), secretBox, code, now());
      if (key === undefined) throw new ApiError(401, 'link_over', 'this sign-in link was used already, or is over');
      // It was in the link, which is used up by now.
      return signIn(request, reply, { key, mayBeGuessed: false });
    });
  });
  app.delete<{ Params: { accountId: string }; Querystring: { everywhere?: unknown } }>(
    `${path}/:accountId`,
    (request, reply) => {
      fromConsole(request);
      const { everywhere } = request.query;
      if (everywhere !== undefined && everywhere !== 'true') throw badRequest('everywhere must be true, or left out');
      const end = everywhere === undefined ? endSession : endSessionsOfKey;
      const nowMs = now().getTime();
      const { accountId } = request.params;
      const session = readSession(request.headers, secretBox, nowMs);
      const ending = session?.keys.find((one) => one.accountId === accountId);
      const keys = session?.keys.filter((one) => one !== ending) ?? [];
      const rest = session === undefined || keys.length === 0 ? undefined : { ...session, keys };
      const secure = isSecure(request, options);
      return amongLogins(request.raw, async () => {
        const em = storage.fork();
        if (ending !== undefined) {
          await end(em, ending.id);
          await options.recheckStreams(accountId);
        }
        void reply.header(
          'set-cookie',
          rest === undefined ? clearSession(secure) : writeSession(rest, secretBox, nowMs, secure),
        );
        return answer(reply, em, rest);
      });
    },
  );
}

function fromConsole(request: FastifyRequest): void {
  if (request.headers[consoleHeader] === undefined) {
    throw new ApiError(403, 'forbidden', `the header ${consoleHeader}: 1 is required, which other sites cannot send`);
  }
}

// A page that came over TLS says so in its Origin, also where something in front of this service ends the TLS.
function isSecure(request: FastifyRequest, { isTls }: SessionRoutesOptions): boolean {
  return isTls || request.headers.origin?.startsWith('https:') === true;
}

const failure = (description: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

function operation(id: string, summary: string, body: TSchema | undefined): JsonObject {
  return {
    operationId: id,
    tags: ['Sessions'],
    summary,
    security: [],
    parameters: [
      { name: consoleHeader, in: 'header', required: true, schema: { type: 'string' } },
      ...(id === 'deleteSession'
        ? [
            { name: 'accountId', in: 'path', required: true, schema: { type: 'string' } },
            {
              name: 'everywhere',
              in: 'query',
              description: 'Signs out every browser that is signed in with the same API key.',
              schema: { type: 'string', enum: ['true'] },
            },
          ]
        : []),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'Done.', content: { 'application/json': { schema: sessionReply } } },
      400: failure('The body does not fit.'),
      401: failure('The key is unknown, revoked or expired; the link was used already, or is over.'),
      403: failure('The header is missing.'),
      413: failure('The body is larger than 4 KiB.'),
      429: failure('Too many requests of this address are under way; try again.'),
      500: failure('Internal error; the answer carries x-request-id.'),
      503: failure('The database cannot be reached; try again.'),
    },
  };
}

/** The routes above, as the OpenAPI document shows them. */
export const sessionOperations: PublicOperations = {
  tag: 'Sessions',
  paths: {
    [path]: {
      get: operation('getSession', 'List the accounts this browser is signed in to', undefined),
      post: operation('createSession', 'Stay signed in with a key, in an HttpOnly cookie', keyBody),
    },
    [`${path}/redeem`]: { post: operation('redeemSignInLink', 'Sign in with the code of a link, once', codeBody) },
    [`${path}/{accountId}`]: { delete: operation('deleteSession', 'Sign out of an account', undefined) },
  },
};
