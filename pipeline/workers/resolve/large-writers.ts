import { LRUCache } from 'lru-cache';

/** Writing less takes the database hardly longer than a look-up. */
const largeBytes = 4 * 1_024;
/** For so long an account counts as one that writes much. */
const rememberedMs = 1_000;
const accountsMax = 10_000;

/**
 * The accounts whose visitors took the database long lately: their events are resolved apart from those of the others,
 * which would wait for the same statements.
 */
export class LargeWriters {
  readonly #accounts: LRUCache<string, true>;

  /** `now` is in ms, and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#accounts = new LRUCache({ max: accountsMax, ttl: rememberedMs, perf: { now }, ttlResolution: 0 });
  }

  /** So many bytes of the account's visitors were written for events that were resolved together. */
  note(accountId: string, writtenBytes: number): void {
    if (writtenBytes >= largeBytes) this.#accounts.set(accountId, true);
  }

  has(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }
}
