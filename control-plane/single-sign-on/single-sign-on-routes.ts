import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parse, serialize } from 'cookie';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { notFound, unavailable } from '../api/api-error.ts';
import type { PublicOperations } from '../api/build-openapi.ts';
import type { Logins } from '../sessions/open-logins.ts';
import { sessionKeys } from '../sessions/session-cookie.ts';
import { fromConsole } from '../sessions/session-routes.ts';
import { identifyUsers, RefusedSignIn } from './identify-users.ts';
import { callbackPath, createOpenIdLogin } from './openid-login.ts';
import type { OpenIdLogin } from './openid-login.ts';
import type { SingleSignOnSettings } from '../sessions/sign-in-settings.ts';

export type SingleSignOnRoutesOptions = Pick<
  Logins,
  'storage' | 'secretBox' | 'now' | 'amongLogins' | 'sessions' | 'principalOfHolder'
> & {
  /** Undefined: single sign-on is not configured. */
  readonly settings: SingleSignOnSettings | undefined;
  readonly logger: Logger;
};

const path = '/rest/v1/session/single-sign-on';
const cookieName = 'sluice_sign_in';
const context = 'single sign-on';
/** How long a person may take to sign in at the provider. */
const underWayMs = 600_000;

const challengeBody = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  untilMs: Type.Integer(),
  // The provider's redirect crosses sites, so the browser comes back without the cookie of its session.
  keys: Type.Optional(sessionKeys),
});
const underWay = Compile(challengeBody);

/** Signs browsers in through an OpenID Connect provider. */
export function addSingleSignOnRoutes(app: FastifyInstance, options: SingleSignOnRoutesOptions): void {
  const { settings, amongLogins } = options;
  const login = settings && createOpenIdLogin(settings);
  app.post(path, (request, reply) => {
    fromConsole(request);
    if (login === undefined) throw notFound('single sign-on');
    return amongLogins(request.raw, () => begin(request, reply, login, options));
  });
  app.get(callbackPath, (request, reply) => {
    if (login === undefined || settings === undefined) throw notFound('single sign-on');
    return amongLogins(request.raw, () => finish(request, reply, { login, settings }, options));
  });
}

async function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  login: OpenIdLogin,
  { secretBox, now, sessions, logger }: SingleSignOnRoutesOptions,
): Promise<FastifyReply> {
  const { url, challenge } = await login.begin().catch((error: unknown) => {
    logger.warn({ code: codeOf(error) }, 'the provider of single sign-on cannot be reached');
    throw unavailable('the provider of single sign-on does not answer');
  });
  const at = now();
  const keys = sessions.read(request, at)?.keys;
  const sealed = secretBox.seal(JSON.stringify({ ...challenge, keys, untilMs: at.getTime() + underWayMs }), context);
  void reply.header('set-cookie', challengeCookie(sealed, underWayMs / 1_000, sessions.isSecure(request)));
  return reply.type('application/json; charset=utf-8').send(JSON.stringify({ url }));
}

type Configured = { readonly login: OpenIdLogin; readonly settings: SingleSignOnSettings };

async function finish(
  request: FastifyRequest,
  reply: FastifyReply,
  { login, settings }: Configured,
  { storage, secretBox, now, sessions, logger, principalOfHolder }: SingleSignOnRoutesOptions,
): Promise<FastifyReply> {
  // The browser follows a redirect of the provider, and then sends no Origin.
  const browser = { headers: { ...request.headers, origin: new URL(settings.consoleUrl).origin } };
  const cookies = [challengeCookie('', 0, sessions.isSecure(browser))];
  const leave = (to: string): FastifyReply =>
    reply.header('set-cookie', cookies).redirect(new URL(to, settings.consoleUrl).href, 302);
  const challenge = readChallenge(request, secretBox, now().getTime());
  if (challenge === undefined) return leave('/sign-in?failed=over');
  try {
    const claims = await login.finish(new URL(request.url, settings.consoleUrl).search, challenge);
    const em = storage.fork();
    const at = now();
    const users = await em.transactional((inner) => identifyUsers(inner, settings, claims, at));
    const principals = [];
    for (const { accountId, id } of users) {
      const principal = await principalOfHolder(em, { accountId, kind: 'user', id }, at);
      if (principal !== undefined) principals.push(principal);
    }
    const { cookie } = await sessions.begin(em, browser, principals, at, challenge.keys);
    cookies.push(cookie);
    return leave('/');
  } catch (error) {
    const isRefusal = error instanceof RefusedSignIn;
    // The error's message and the provider's data are not logged: they may name the person.
    logger.warn({ code: codeOf(error) }, 'single sign-on failed');
    return leave(`/sign-in?failed=${isRefusal ? error.code : 'provider'}`);
  }
}

function readChallenge(
  request: FastifyRequest,
  secretBox: SingleSignOnRoutesOptions['secretBox'],
  nowMs: number,
): Static<typeof challengeBody> | undefined {
  const sealed = parse(request.headers.cookie ?? '')[cookieName];
  if (sealed === undefined) return undefined;
  try {
    const opened: unknown = JSON.parse(secretBox.open(sealed, context));
    return underWay.Check(opened) && opened.untilMs > nowMs ? opened : undefined;
  } catch {
    return undefined;
  }
}

// Lax: the browser comes back from another site.
const challengeCookie = (sealed: string, maxAge: number, secure: boolean): string =>
  serialize(cookieName, sealed, { httpOnly: true, sameSite: 'lax', path, secure, maxAge });

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';

const failure = (description: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

/** The routes above, as the OpenAPI document shows them. */
export const singleSignOnOperations: PublicOperations = {
  tag: 'Sessions',
  paths: {
    [path]: {
      post: {
        operationId: 'beginSingleSignOn',
        tags: ['Sessions'],
        summary: 'Begin to sign in with the provider of OpenID Connect; the browser then opens the `url` of the answer',
        security: [],
        parameters: [{ name: 'x-sluice-console', in: 'header', required: true, schema: { type: 'string' } }],
        responses: {
          200: {
            description: 'Done.',
            content: { 'application/json': { schema: Type.Object({ url: Type.String() }) } },
          },
          403: failure('The header x-sluice-console is missing.'),
          404: failure('CONSOLE_SIGN_IN configures no provider.'),
          429: failure('Too many requests from this address are in flight; try again.'),
          503: failure('The provider or the database cannot be reached; try again.'),
        },
      },
    },
    [callbackPath]: {
      get: {
        operationId: 'finishSingleSignOn',
        tags: ['Sessions'],
        summary: 'The address to which the provider sends the browser back: signs in and redirects to the console',
        security: [],
        responses: {
          302: { description: 'To the console, or to /sign-in?failed=<reason> if the sign-in failed.' },
          404: failure('CONSOLE_SIGN_IN configures no provider.'),
        },
      },
    },
  },
};
