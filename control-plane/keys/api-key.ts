import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyRow } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { randomText } from '../store/text.ts';

/** An API key as it is handed out: `slk_<kid>_<secret>`. */
export type IssuedKey = { readonly key: string; readonly kid: string; readonly secretHash: string };

const shape = /^slk_([A-Za-z0-9]{12})_[A-Za-z0-9]{43}$/;

/** Makes a new key. Its secret has 256 random bits, so a slow hash would add nothing. */
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

/** Whether two hashes are equal, compared in constant time. */
export function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

export function principalOfKey({
  accountId,
  id,
  name,
  scopes,
  expiresAt = null,
}: Pick<ApiKeyRow, 'accountId' | 'id' | 'name' | 'scopes' | 'expiresAt'>): Principal {
  return { accountId, kind: 'key', id, name, scopes, expiresAt };
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const yearsMax = 100;
const furthestMs = yearsMax * 366 * 86_400_000;

/** Reads `90d`, `12h` or a date; undefined when it is neither, or not in the future. */
export function readExpiry(text: string, now: Date): Date | undefined {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = unit === undefined ? Date.parse(text) : now.getTime() + Number(amount) * (unitMs[unit] ?? Number.NaN);
  const isSensible = ms > now.getTime() && ms < now.getTime() + furthestMs;
  return isSensible ? new Date(ms) : undefined;
}
