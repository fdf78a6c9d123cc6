import { createHash, timingSafeEqual } from 'node:crypto';
import { randomText } from './random-text.ts';

/** An API key as it is handed out: `slk_<kid>_<secret>`. */
export type IssuedKey = { readonly key: string; readonly kid: string; readonly secretHash: string };

const shape = /^slk_([A-Za-z0-9]{12})_[A-Za-z0-9]{43}$/;

/** Makes a new key. The secret has 256 bits, so a plain hash of it is as good as a slow one. */
export function issueApiKey(): IssuedKey {
  const kid = randomText(12);
  const key = `slk_${kid}_${randomText(43)}`;
  return { key, kid, secretHash: hashApiKey(key) };
}

/** The key's public part; undefined when the text cannot be a key. */
export function readKid(key: string): string | undefined {
  return shape.exec(key)?.[1];
}

/** SHA-256 of the whole key, lower-case hex. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** Whether two hashes are the same, in a time that does not depend on where they differ. */
export function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}
