import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether a `userHash` is the HMAC-SHA256 of an identifier, in hex, keyed with the secret of its source. */
export type UserHashCheck = (identifier: string, userHash: string) => boolean;

const hexDigest = /^[0-9a-f]{64}$/i;

/** Calls `secret` once, for the first hash; without a secret no hash is valid. */
export function createUserHashCheck(secret: () => string | undefined): UserHashCheck {
  let opened: { readonly secret: string | undefined } | undefined;
  return (identifier, userHash) => {
    opened ??= { secret: secret() };
    if (opened.secret === undefined || !hexDigest.test(userHash)) return false;
    const wanted = createHmac('sha256', opened.secret).update(identifier, 'utf8').digest();
    return timingSafeEqual(wanted, Buffer.from(userHash, 'hex'));
  };
}
