import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { SecretError } from './secrets.ts';
import type { SecretBox } from './secrets.ts';

const instant = Type.Number({ minimum: 0 });

const oauthEntry = Type.Object({
  v: Type.Literal(1),
  /** The platform's last token and its end. */
  token: Type.Optional(Type.Object({ accessToken: Type.String(), expiresAtMs: instant })),
  /** The platform's newest refresh token, where it issues a new one with each token. */
  refreshToken: Type.Optional(Type.String()),
  /** A process requests a token until then: others wait for its result. */
  askedUntilMs: Type.Optional(instant),
  /** The platform refused a token: no process asks again before then. */
  refusal: Type.Optional(Type.Object({ reason: Type.String(), untilMs: instant })),
});

/**
 * The access token of one grant, shared by all processes: value of `token.<hash of the grant>` in the TOKENS bucket,
 * sealed. Times are in ms since the epoch.
 */
export type OAuthEntry = Static<typeof oauthEntry>;

const isOAuthEntry = Compile(oauthEntry);

/** `grantHash`: hex. */
export const oauthEntryKey = (grantHash: string): string => `token.${grantHash}`;

export function encodeOAuthEntry(entry: OAuthEntry, box: SecretBox, key: string): Uint8Array {
  return Buffer.from(box.seal(JSON.stringify(entry), `oauth/${key}`));
}

/** Undefined if there is none, and for one that another key sealed. */
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
