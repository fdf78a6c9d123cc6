import type { IncomingMessage } from 'node:http';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { createLoginLimits } from '../api/request-limits.ts';
import type { RequestLimits } from '../api/request-limits.ts';
import { createAuthenticate } from '../keys/authenticate.ts';
import { createLogIn } from '../keys/log-in.ts';
import { createRefusalLimits, readRefusalLimits } from '../keys/refusal-limits.ts';
import { createRefusedLogins } from '../keys/refused-logins.ts';
import type { RefusedLogins } from '../keys/refused-logins.ts';
import { authorizationOf } from './session-cookie.ts';
import type { SessionRoutesOptions } from './session-routes.ts';

type LoginVariables = Parameters<typeof readRefusalLimits>[0] & { readonly SYSTEM_FIND_WITH_ALL: boolean };

export type LoginParts = {
  readonly storage: Storage;
  readonly secretBox: SecretBox;
  readonly logger: Logger;
  addressOf(request: IncomingMessage): string;
  now(): Date;
};

/** Finds out whose key or session a request shows. */
export type Logins = Pick<
  SessionRoutesOptions,
  'storage' | 'secretBox' | 'now' | 'authenticate' | 'logIn' | 'amongLogins'
> & {
  readonly requestLimits: RequestLimits;
  readonly refusedLogins: RefusedLogins;
  principalOf(request: IncomingMessage): Promise<Principal | undefined>;
  /** The same later in the life of an answer, which counts as no attempt to log in. */
  principalAgain(request: IncomingMessage): Promise<Principal | undefined>;
};

export function openLogins(env: LoginVariables, parts: LoginParts, scope: Scope): Logins {
  const { storage, secretBox, logger, addressOf, now } = parts;
  const refusedLogins = createRefusedLogins({ storage, logger, now });
  scope.use('refused logins', refusedLogins, (one) => one.stop());
  const authenticate = createAuthenticate(env.SYSTEM_FIND_WITH_ALL);
  const requestLimits = createLoginLimits();
  const refusalLimits = createRefusalLimits(readRefusalLimits(env));
  const logIn = createLogIn({ authenticate, refusedLogins, refusalLimits, addressOf });
  const amongLogins = async <Result>(request: IncomingMessage, work: () => Promise<Result>) => {
    const admitted = requestLimits.enter(addressOf(request));
    try {
      return await admitted.run(work);
    } finally {
      admitted.leave();
    }
  };
  return {
    storage,
    secretBox,
    now,
    authenticate,
    logIn,
    amongLogins,
    requestLimits,
    refusedLogins,
    principalOf: (request) =>
      amongLogins(request, async () => {
        const em = storage.fork();
        const at = now();
        return logIn(em, request, await authorizationOf(em, request.headers, secretBox, at), at);
      }),
    async principalAgain({ headers }) {
      const em = storage.fork();
      const at = now();
      return authenticate(em, await authorizationOf(em, headers, secretBox, at), at);
    },
  };
}
