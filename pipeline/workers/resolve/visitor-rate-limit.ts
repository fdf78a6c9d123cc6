import { LRUCache } from 'lru-cache';
import { RateLimit } from '../../../shared/limits/index.ts';
import type { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { cutVisitor } from './cut-visitor.ts';
import { noReads } from './visitor-reads.ts';
import type { VisitorReads } from './visitor-reads.ts';

export type VisitorRate = {
  /** Bytes of visitors that an account's events may carry for each byte that the account sends. */
  readonly perByteSent: number;
  /** Bytes of visitors that may be carried in a burst, in addition to `perByteSent`. */
  readonly burstBytes: number;
  /** A visitor up to this size, in bytes, is sent whole with every event, whatever its account has sent. */
  readonly alwaysBytes: number;
};

/** Maximum number of accounts that are remembered; an account that was forgotten begins with a full burst. */
const accountsMax = 10_000;
const reportedEveryMs = 3_600_000;

/**
 * Limits the bytes of visitors that an account's events carry, in proportion to the bytes it sends, so that tiny events
 * of large visitors do not fill the shared log. Beyond the limit a large visitor is shortened and carries the number of
 * omitted properties, but it always keeps the properties that the live version of its account reads.
 */
export class VisitorRateLimit {
  readonly #rate: VisitorRate;
  readonly #readsOf: (accountId: string) => VisitorReads;
  /** Counts bytes. The bytes that an account sends refill its limit; time does not. */
  readonly #limit: RateLimit;
  readonly #reported = new LRUCache<string, true>({ max: accountsMax, ttl: reportedEveryMs });

  /** `readsOf` names the properties that the live version of an account reads. */
  constructor(rate: VisitorRate, readsOf: (accountId: string) => VisitorReads = () => noReads) {
    this.#rate = rate;
    this.#readsOf = readsOf;
    this.#limit = new RateLimit({ perS: 0, burst: rate.burstBytes, ownersMax: accountsMax });
  }

  /** Increases the account's allowance by the bytes that it sent. */
  earn(accountId: string, bytes: number): void {
    this.#limit.credit(accountId, bytes * this.#rate.perByteSent);
  }

  /**
   * Whether to report now that the account's visitors are shortened: once per hour. Returning true counts as a report.
   */
  isNews(accountId: string): boolean {
    if (this.#reported.has(accountId)) return false;
    this.#reported.set(accountId, true);
    return true;
  }

  /** The properties of a visitor to send with the event; the same object if all are sent. */
  spend(accountId: string, properties: VisitorProperties): VisitorProperties {
    const { alwaysBytes, burstBytes } = this.#rate;
    if (properties.bytes <= alwaysBytes) return properties;
    const travels = properties.bytes <= burstBytes && this.#limit.take(accountId, properties.bytes) === 0;
    return travels ? properties : cutVisitor(properties, alwaysBytes, this.#readsOf(accountId));
  }
}
