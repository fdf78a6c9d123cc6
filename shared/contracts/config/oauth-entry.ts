import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { SecretError } from './secrets.ts';
import type { SecretBox } from './secrets.ts';
import { assertId } from '../subjects.ts';

const instant = Type.Number({ minimum: 0 });

const oauthEntry = Type.Object({
  v: Type.Literal(1),
  /**
   * The platform's last token. From `renewAtMs` on, a process requests the next one; earlier versions stored no such
   * time.
   */
  token: Type.Optional(
    Type.Object({ accessToken: Type.String(), expiresAtMs: instant, renewAtMs: Type.Optional(instant) }),
  ),
  /** The platform's newest refresh token, if the platform issues a new one with each token. */
  refreshToken: Type.Optional(Type.String()),
  /** Set while a process requests a token. Until this time, other processes wait for the result. */
  askedUntilMs: Type.Optional(instant),
  /** Set after the platform refused a token. Before `untilMs`, no process requests another one. */
  refusal: Type.Optional(Type.Object({ reason: Type.String(), untilMs: instant })),
});

/**
 * The access token of one grant, shared by all processes: the sealed value of `token.<hash of the grant>` in the TOKENS
 * bucket. Times are in ms since the epoch.
 */
export type OAuthEntry = Static<typeof oauthEntry>;

const isOAuthEntry = Compile(oauthEntry);

/** `grantHash`: hex. */
export const oauthEntryKey = (grantHash: string): string => `token.${grantHash}`;

/** Records that an account requested a grant's entry. The value is the size of that entry in bytes, as decimal text. */
export const oauthUseKey = (accountId: string, grantHash: string): string => `use.${assertId(accountId)}.${grantHash}`;
export const oauthUsesOfAccount = (accountId: string): string => `use.${assertId(accountId)}.*`;

export function encodeOAuthEntry(entry: OAuthEntry, box: SecretBox, key: string): Uint8Array {
  return Buffer.from(box.seal(JSON.stringify(entry), `oauth/${key}`));
}

/** Returns undefined if there is no entry, another key sealed it, or its format is unknown. */
export function decodeOAuthEntry(bytes: Uint8Array | undefined, box: SecretBox, key: string): OAuthEntry | undefined {
  if (bytes === undefined) return undefined;
  try {
    const entry: unknown = JSON.parse(box.open(Buffer.from(bytes).toString('utf8'), `oauth/${key}`));
    return isOAuthEntry.Check(entry) ? entry : undefined;
  } catch (error) {
    if (error instanceof SecretError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
