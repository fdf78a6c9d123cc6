import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { createLoginLimits } from '../api/request-limits.ts';
import type { RequestLimits } from '../api/request-limits.ts';
import { authenticate } from '../keys/authenticate.ts';
import { createLogIn } from '../keys/log-in.ts';
import type { LogIn } from '../keys/log-in.ts';
import { createRefusalLimits, readRefusalLimits } from '../keys/refusal-limits.ts';
import { createRefusedLogins } from '../keys/refused-logins.ts';
import type { RefusedLogins } from '../keys/refused-logins.ts';
import { readScopesSettings, withInstallation } from '../keys/scopes.ts';
import { createBrowserSessions } from './browser-sessions.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { principalOfHolder, principalOfSession } from './live-sessions.ts';
import type { Holder, SessionId } from './live-sessions.ts';
import { holderHeader, sessionOf } from './session-cookie.ts';
import { readSignInSettings } from './sign-in-settings.ts';

type LoginVariables = Parameters<typeof readRefusalLimits>[0] &
  Parameters<typeof readScopesSettings>[0] &
  Parameters<typeof readSignInSettings>[0];

export type LoginParts = {
  readonly storage: Storage;
  readonly secretBox: SecretBox;
  readonly logger: Logger;
  /** Whether browsers can reach this service only over TLS. */
  readonly isTls: boolean;
  addressOf(request: IncomingMessage): string;
  now(): Date;
};

/** Finds the principal of a request's key or session. */
export type Logins = Pick<LoginParts, 'storage' | 'secretBox' | 'now'> & {
  readonly logIn: LogIn;
  /** Runs work for a caller that is not identified yet, within the request limit of the caller's address. */
  amongLogins<Result>(request: IncomingMessage, work: () => Promise<Result>): Promise<Result>;
  /** The principal of a sign-in with a key, a link or single sign-on. */
  principalOfHolder(em: EntityManager, holder: Holder, now: Date): Promise<Principal | undefined>;
  readonly sessions: BrowserSessions;
  readonly requestLimits: RequestLimits;
  readonly refusedLogins: RefusedLogins;
  principalOf(request: IncomingMessage): Promise<Principal | undefined>;
  /** Checks the key or session again while an answer is sent; this does not count as a login attempt. */
  principalAgain(request: IncomingMessage): Promise<Principal | undefined>;
};

export function openLogins(env: LoginVariables, parts: LoginParts, scope: Scope): Logins {
  const { storage, secretBox, logger, addressOf, now } = parts;
  const refusedLogins = createRefusedLogins({ storage, logger, now });
  scope.use('refused logins', refusedLogins, (one) => one.stop());
  const { allFindsSystem } = readScopesSettings(env);
  const widen = (principal: Principal | undefined): Principal | undefined =>
    principal === undefined || !allFindsSystem
      ? principal
      : { ...principal, scopes: withInstallation(principal.scopes) };
  const requestLimits = createLoginLimits();
  const refusalLimits = createRefusalLimits(readRefusalLimits(env));
  const lookUpKey = createLogIn({ authenticate, refusedLogins, refusalLimits, addressOf });
  const logIn: LogIn = async (...given) => widen(await lookUpKey(...given));
  const amongLogins = async <Result>(request: IncomingMessage, work: () => Promise<Result>) => {
    const admitted = requestLimits.enter(addressOf(request));
    try {
      return await admitted.run(work);
    } finally {
      admitted.leave();
    }
  };
  const ofSession = async (em: EntityManager, session: SessionId, at: Date) =>
    widen(await principalOfSession(em, session, at));
  const sessions = createBrowserSessions({
    secretBox,
    principalOfSession: ofSession,
    sessionMs: readSignInSettings(env).sessionMs,
    isTls: parts.isTls,
  });
  return {
    storage,
    secretBox,
    now,
    logIn,
    amongLogins,
    requestLimits,
    refusedLogins,
    sessions,
    principalOfHolder: async (...given) => widen(await principalOfHolder(...given)),
    principalOf: (request) =>
      amongLogins(request, async () => {
        const em = storage.fork();
        const at = now();
        const session = sessionOf(request.headers, secretBox, at.getTime());
        if (session !== undefined) return ifShown(request.headers, await ofSession(em, session, at));
        return logIn(em, request, request.headers.authorization, at);
      }),
    async principalAgain({ headers }) {
      const em = storage.fork();
      const at = now();
      const session = sessionOf(headers, secretBox, at.getTime());
      if (session !== undefined) return ifShown(headers, await ofSession(em, session, at));
      return widen(await authenticate(em, headers.authorization, at));
    },
  };
}

/** The principal of a session; undefined if the page that sent the request shows another key or user. */
function ifShown({ [holderHeader]: shown }: IncomingHttpHeaders, principal: Principal | undefined) {
  return shown === undefined || shown === principal?.id ? principal : undefined;
}
