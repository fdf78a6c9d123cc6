import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ApiError, badRequest, unauthorized } from '../api/api-error.ts';
import type { PublicOperations } from '../api/build-openapi.ts';
import { compileCheck } from '../api/prepare-input.ts';
import type { ChangedSession } from './browser-sessions.ts';
import type { Logins } from './open-logins.ts';
import type { Session } from './session-cookie.ts';
import { sessionReply } from './session-view.ts';
import { redeemSignInLink } from './sign-in-links.ts';

export type SessionRoutesOptions = Pick<
  Logins,
  'storage' | 'now' | 'logIn' | 'amongLogins' | 'principalOfHolder' | 'sessions'
> & {
  /** The label of the button for single sign-on; null if there is none. */
  readonly singleSignOn: string | null;
  /** Ends the account's live streams whose sign-in has ended. */
  recheckStreams(accountId: string): Promise<void>;
};

/** A header that another site cannot send, so that no site can sign a browser in or out. */
const consoleHeader = 'x-sluice-console';

const path = '/rest/v1/session';
/** Maximum body size of a sign-in request, which contains only a key or a code. */
const bodyBytesMax = 4_096;
const keyBody = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 200, description: 'An API key: slk_…' }) },
  { additionalProperties: false },
);
const codeBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 200, description: 'The part of a sign-in link after #.' }) },
  { additionalProperties: false },
);

/** Signs browsers in and out. */
export function addSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { storage, sessions, singleSignOn, logIn, principalOfHolder, now, amongLogins } = options;
  const checkKey = compileCheck(keyBody);
  const checkCode = compileCheck(codeBody);
  const answer = async (reply: FastifyReply, em: EntityManager, session: Session | undefined) =>
    reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ accounts: await sessions.view(em, session, now()), singleSignOn }));
  const signedIn = (reply: FastifyReply, em: EntityManager, { cookie, session }: ChangedSession) => {
    void reply.header('set-cookie', cookie);
    return answer(reply, em, session);
  };
  app.get(path, (request, reply) => {
    fromConsole(request);
    return amongLogins(request.raw, () => answer(reply, storage.fork(), sessions.read(request, now())));
  });
  app.post(path, { bodyLimit: bodyBytesMax }, (request, reply) => {
    fromConsole(request);
    checkKey(request.body);
    const { key } = request.body as Static<typeof keyBody>;
    return amongLogins(request.raw, async () => {
      const em = storage.fork();
      const principal = await logIn(em, request.raw, `Bearer ${key}`, now());
      if (principal === undefined) throw unauthorized();
      return signedIn(reply, em, await sessions.begin(em, request, [principal], now()));
    });
  });
  app.post(`${path}/redeem`, { bodyLimit: bodyBytesMax }, (request, reply) => {
    fromConsole(request);
    checkCode(request.body);
    const { code } = request.body as Static<typeof codeBody>;
    return amongLogins(request.raw, async () => {
      const em = storage.fork();
      // One transaction: a sign-in that is refused does not use up the link.
      const begun = await em.transactional(async (inner) => {
        const holder = await redeemSignInLink(inner, code, now());
        const principal = holder === undefined ? undefined : await principalOfHolder(inner, holder, now());
        if (principal === undefined) {
          throw new ApiError(401, 'link_over', 'this sign-in link was used already or has expired');
        }
        return sessions.begin(inner, request, [principal], now());
      });
      return signedIn(reply, em, begun);
    });
  });
  app.delete<{ Params: { accountId: string }; Querystring: { everywhere?: unknown } }>(
    `${path}/:accountId`,
    (request, reply) => {
      fromConsole(request);
      const { everywhere } = request.query;
      if (everywhere !== undefined && everywhere !== 'true') throw badRequest('everywhere must be true or absent');
      const { accountId } = request.params;
      return amongLogins(request.raw, async () => {
        const em = storage.fork();
        const which = { accountId, everywhere: everywhere === 'true' };
        const { cookie, session } = await sessions.end(em, request, which, now());
        await options.recheckStreams(accountId);
        void reply.header('set-cookie', cookie);
        return answer(reply, em, session);
      });
    },
  );
}

/** Throws a 403 if another site may have made the request. */
export function fromConsole(request: FastifyRequest): void {
  if (request.headers[consoleHeader] === undefined) {
    throw new ApiError(403, 'forbidden', `the header ${consoleHeader}: 1 is required, which other sites cannot send`);
  }
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
              description: 'Signs out every browser that is signed in with the same API key or user.',
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
      400: failure('The body does not fit its schema.'),
      401: failure('The key is unknown, revoked or expired, or the link was used already or has expired.'),
      403: failure('The header x-sluice-console is missing.'),
      413: failure('The body is larger than 4 KiB.'),
      429: failure('Too many requests from this address are in flight; try again.'),
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
