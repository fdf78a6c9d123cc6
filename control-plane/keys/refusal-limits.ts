import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RateLimit } from '../../shared/limits/index.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

/** Limits how many guessed keys from one address are looked up. */
export type RefusalLimits = {
  /**
   * Seconds until a key from the address is looked up again; 0 if it is looked up now, because few keys from the
   * address were refused or this key was valid recently.
   */
  retryAfterS(address: string, authorization: string): number;
  noteRefused(address: string): void;
  noteValid(authorization: string): void;
};

export const { variables: refusalLimitsEnv, read: readRefusalLimits } = defineSettings({
  /** Refused keys of an address that the limit forgets per second. */
  perS: 5,
  /** Refused keys that an address may send at once. */
  burst: fromEnv({
    ADDRESS_REFUSED_KEYS_BURST: count(
      'Refused API keys that one address may send at once; over time, five more per second. Beyond that, keys from the address that were not used lately get a 429 without being looked up',
      1_000,
    ),
  }),
});

export type RefusalLimitsOptions = {
  readonly perS: number;
  readonly burst: number;
  /** Monotonic clock, in ms. */
  now?(): number;
};

/** Valid keys that are remembered, so that clients that share an address with an attacker can keep using their keys. */
const validKept = 10_000;
const validMs = 3_600_000;

export function createRefusalLimits({ perS, burst, now }: RefusalLimitsOptions): RefusalLimits {
  const refused = new RateLimit({ perS, burst }, now);
  const valid = new LRUCache<string, true>({ max: validKept, ttl: validMs });
  return {
    retryAfterS(address, authorization) {
      const waitMs = refused.waitMs(address, 1);
      return waitMs === 0 || valid.has(digestOf(authorization)) ? 0 : Math.ceil(waitMs / 1_000);
    },
    noteRefused: (address) => refused.charge(address, 1),
    noteValid: (authorization) => void valid.set(digestOf(authorization), true),
  };
}

/** Keys are kept only as hashes. */
const digestOf = (authorization: string): string => createHash('sha256').update(authorization).digest('base64');
