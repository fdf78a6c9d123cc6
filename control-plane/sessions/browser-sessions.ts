import type { IncomingHttpHeaders } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from '../../shared/postgres/entities.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { endSession, endSessionsLike, startSession } from './live-sessions.ts';
import type { SessionId } from './live-sessions.ts';
import { clearSession, holderHeader, readSession, sessionAccountsMax, writeSession } from './session-cookie.ts';
import type { Session } from './session-cookie.ts';
import { viewSignedIn } from './session-view.ts';

export type BrowserSessionsOptions = {
  readonly secretBox: SecretBox;
  /** The principal of a live sign-in. */
  principalOfSession(em: EntityManager, session: SessionId, now: Date): Promise<Principal | undefined>;
  /** How long a browser stays signed in, in ms. */
  readonly sessionMs: number;
  /** Whether browsers can reach this service only over TLS. */
  readonly isTls: boolean;
};

/** The part of a request that identifies the browser's session. */
export type Browser = { readonly headers: IncomingHttpHeaders };

/** A changed session, and the header that sets it in the browser. */
export type ChangedSession = { readonly cookie: string; readonly session: Session | undefined };

/** The sign-ins of a browser: one cookie that names all of them, and one row for each. */
export type BrowserSessions = {
  /**
   * Signs a browser in to further accounts. Throws a 400 beyond the maximum number of accounts. `earlier`: the sign-ins
   * of a browser whose request comes without its cookie.
   */
  begin(
    em: EntityManager,
    browser: Browser,
    principals: readonly Principal[],
    at: Date,
    earlier?: Session['keys'],
  ): Promise<ChangedSession>;
  /**
   * Signs the browser out of an account. With `everywhere`, also signs out all other browsers of the same key or user.
   * Changes nothing if the page shows another key or user than the one signed in.
   */
  end(
    em: EntityManager,
    browser: Browser,
    which: { readonly accountId: string; readonly everywhere: boolean },
    at: Date,
  ): Promise<ChangedSession>;
  read(browser: Browser, at: Date): Session | undefined;
  /** The accounts of a session to which the browser is still signed in. */
  view(em: EntityManager, session: Session | undefined, at: Date): Promise<readonly JsonObject[]>;
  /** Whether the browser uses TLS, even if a proxy in front of this service terminates it. */
  isSecure(browser: Browser): boolean;
};

export function createBrowserSessions(options: BrowserSessionsOptions): BrowserSessions {
  const { secretBox, principalOfSession, sessionMs, isTls } = options;
  const read: BrowserSessions['read'] = ({ headers }, at) => readSession(headers, secretBox, at.getTime());
  // The Origin of a page loaded over TLS begins with https.
  const isSecure: BrowserSessions['isSecure'] = ({ headers }) =>
    isTls || headers.origin?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https';
  /** Whether the page that sent a request shows the key or user of a sign-in; true if either of them is unknown. */
  const isShown = async (em: EntityManager, { headers }: Browser, one: SessionId, at: Date): Promise<boolean> => {
    const shown = headers[holderHeader];
    if (shown === undefined) return true;
    const principal = await principalOfSession(em, one, at);
    return principal === undefined || principal.id === shown;
  };
  return {
    read,
    isSecure,
    async begin(em, browser, principals, at, earlier = []) {
      const before = read(browser, at)?.keys ?? earlier;
      const added = new Set(principals.map(({ accountId }) => accountId));
      const others = before.filter(({ accountId }) => !added.has(accountId));
      if (others.length + principals.length > sessionAccountsMax) {
        throw badRequest(`a browser can be signed in to at most ${sessionAccountsMax} accounts: sign out of one`);
      }
      const expiresAt = new Date(at.getTime() + sessionMs);
      const begun = await em.transactional(async (inner) => {
        // The new cookie no longer contains the earlier sign-in, so the browser could not sign out of it later.
        for (const one of before) if (added.has(one.accountId)) await endSession(inner, one);
        const ids = [];
        for (const principal of principals) {
          const { accountId, id } = principal;
          const kind = principal.kind === 'user' ? 'user' : 'key';
          recordAudit(inner, principal, { action: 'session.create' }, at);
          if (kind === 'user') await inner.nativeUpdate(User, { accountId, id }, { signedInAt: at });
          ids.push({ accountId, id: await startSession(inner, { accountId, kind, id }, expiresAt, at) });
        }
        return ids;
      });
      const kept = others.map(({ accountId, id }) => ({ accountId, id }));
      const session: Session = { v: 1, untilMs: expiresAt.getTime(), keys: [...kept, ...begun] };
      return { session, cookie: writeSession(session, secretBox, at.getTime(), isSecure(browser)) };
    },
    async end(em, browser, { accountId, everywhere }, at) {
      const session = read(browser, at);
      const found = session?.keys.find((one) => one.accountId === accountId);
      const ending = found !== undefined && (await isShown(em, browser, found, at)) ? found : undefined;
      if (ending !== undefined) await (everywhere ? endSessionsLike : endSession)(em, ending);
      const keys = session?.keys.filter((one) => one !== ending) ?? [];
      const secure = isSecure(browser);
      if (session === undefined || keys.length === 0) return { session: undefined, cookie: clearSession(secure) };
      const rest = { ...session, keys };
      return { session: rest, cookie: writeSession(rest, secretBox, at.getTime(), secure) };
    },
    async view(em, session, at) {
      const found: JsonObject[] = [];
      for (const one of session?.keys ?? []) {
        const principal = await principalOfSession(em, one, at);
        if (principal !== undefined) found.push(await viewSignedIn(em, principal));
      }
      return found;
    },
  };
}
