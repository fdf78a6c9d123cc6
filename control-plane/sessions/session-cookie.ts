import type { IncomingHttpHeaders } from 'node:http';
import { parse, serialize } from 'cookie';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { SessionId } from './live-sessions.ts';

/** The sign-ins of a browser. Cookies of the previous release also contain the API key, which is not read. */
export const sessionKeys = Type.Array(Type.Object({ accountId: Type.String(), id: Type.String() }));

const session = Type.Object({ v: Type.Literal(1), untilMs: Type.Integer(), keys: sessionKeys });

/**
 * The cookie of a signed-in browser, sealed: the id of its sign-in to each account. Any control plane can read it. It
 * is valid only for live sign-ins: see `principalOfSession`.
 */
export type Session = Static<typeof session>;

export const sessionCookie = 'sluice_session';

/**
 * Names the account of a request with a cookie; without it the cookie is ignored. It also protects against requests
 * from other sites: browsers send such a header across sites only with permission (CORS), which the control plane never
 * gives.
 */
export const accountHeader = 'x-sluice-account';

/**
 * Names the key or user that the page shows. Another tab may have signed the browser in as someone else: such a request
 * is refused. Optional.
 */
export const holderHeader = 'x-sluice-holder';

/** Maximum number of accounts of one session: all have to fit into a cookie of 4,096 bytes (RFC 6265, section 6.1). */
export const sessionAccountsMax = 8;

const isSession = Compile(session);
const context = 'console session';

/**
 * The session of a request's cookie; undefined without a cookie, after its expiry, or if another installation sealed
 * it.
 */
export function readSession(headers: IncomingHttpHeaders, secretBox: SecretBox, nowMs: number): Session | undefined {
  const sealed = parse(headers.cookie ?? '')[sessionCookie];
  if (sealed === undefined) return undefined;
  try {
    const opened: unknown = JSON.parse(secretBox.open(sealed, context));
    return isSession.Check(opened) && opened.untilMs > nowMs ? opened : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The sign-in that a browser's request uses, for the account in its header; undefined if the request has an API key.
 */
export function sessionOf(headers: IncomingHttpHeaders, secretBox: SecretBox, nowMs: number): SessionId | undefined {
  const accountId = headers[accountHeader];
  if (headers.authorization !== undefined || accountId === undefined) return undefined;
  return readSession(headers, secretBox, nowMs)?.keys.find((one) => one.accountId === accountId);
}

/** The header that gives a browser a session, which scripts cannot read and other sites cannot use. */
export function writeSession(given: Session, secretBox: SecretBox, nowMs: number, isSecure: boolean): string {
  const maxAge = Math.max(0, Math.floor((given.untilMs - nowMs) / 1_000));
  return serialize(sessionCookie, secretBox.seal(JSON.stringify(given), context), { ...attributes(isSecure), maxAge });
}

/** The header that removes the session from the browser. */
export function clearSession(isSecure: boolean): string {
  return serialize(sessionCookie, '', { ...attributes(isSecure), maxAge: 0 });
}

function attributes(secure: boolean) {
  return { httpOnly: true, sameSite: 'strict' as const, path: '/rest/v1', secure };
}
