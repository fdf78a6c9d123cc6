import type { IncomingMessage } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { tooMany } from '../api/api-error.ts';
import type { Principal } from '../api/define-endpoint.ts';
import type { Authenticate } from './authenticate.ts';
import type { RefusalLimits } from './refusal-limits.ts';
import type { RefusedLogins } from './refused-logins.ts';

/**
 * The principal of a request's key at a time; undefined for an unknown key. Throws a 429 if the address has sent too
 * many refused keys. Pass `mayBeGuessed` false for a key that the service itself made: that limit then does not apply.
 * Default true.
 */
export type LogIn = (
  em: EntityManager,
  request: IncomingMessage,
  authorization: string | undefined,
  at: Date,
  mayBeGuessed?: boolean,
) => Promise<Principal | undefined>;

export type LogInOptions = {
  readonly authenticate: Authenticate;
  readonly refusedLogins: Pick<RefusedLogins, 'note'>;
  readonly refusalLimits: RefusalLimits;
  addressOf(request: IncomingMessage): string;
};

/**
 * Looks up the key of each request and records refused keys. After many refused keys from one address, its keys are not
 * looked up.
 */
export function createLogIn({ authenticate, refusedLogins, refusalLimits, addressOf }: LogInOptions): LogIn {
  return async (em, request, authorization, at, mayBeGuessed = true) => {
    const address = addressOf(request);
    // Without a key there is nothing to look up.
    const isTried = authorization !== undefined && mayBeGuessed;
    const retryAfterS = isTried ? refusalLimits.retryAfterS(address, authorization) : 0;
    if (retryAfterS > 0) {
      refusedLogins.note('not-looked-up', undefined);
      throw tooMany(`too many API keys of this address were refused, try again in ${retryAfterS} s`, retryAfterS);
    }
    const principal = await authenticate(em, authorization, at, (reason, key) => {
      refusedLogins.note(reason, key);
      // A malformed key was not looked up.
      if (reason !== 'malformed') refusalLimits.noteRefused(address);
    });
    if (principal !== undefined && authorization !== undefined) refusalLimits.noteValid(authorization);
    return principal;
  };
}
