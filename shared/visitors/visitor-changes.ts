import { DatabaseError } from 'pg';
import type { VisitorCache } from './visitor-cache.ts';
import type { ErasureMarks } from './visitor-rows.ts';
import { allVisitors, deleteVisitorChanges, selectVisitorChanges } from './visitor-statements.ts';
import type { Queryable, VisitorChangesFound } from './visitor-statements.ts';

/**
 * Maximum time between two reads of changes, in ms; after a longer gap every cache entry must be confirmed. Changes are
 * kept several times as long.
 */
const gapMaxMs = 60_000;
const keptMs = 5 * gapMaxMs;

/**
 * Maximum number of statements whose changes are read at once. If there are more, every cache entry must be confirmed.
 */
const statementsMax = 500;

/** Errors of a database without the latest migration or roles: undefined table, insufficient privilege. */
const notMigrated: ReadonlySet<string | undefined> = new Set(['42P01', '42501']);

/**
 * The time of a request by the monotonic clock and by the wall clock, in ms. While a machine is suspended, only the wall
 * clock advances.
 */
type Asked = { readonly askedMs: number; readonly askedAtMs: number };

/** The last answer of PostgreSQL. */
type Answer = Asked & { readonly marks: ErasureMarks };

/**
 * Marks entries of a cache as old when other processes changed their visitors: one short statement for a batch of any
 * size replaces reading every visitor's row. Its answer is trusted for `trustedMs`: until then batches of known
 * visitors need no statement.
 */
export class VisitorChanges {
  readonly #db: Queryable;
  readonly #cache: VisitorCache;
  readonly #trustedMs: number;
  #answer: Answer | undefined;
  /** Incremented when the answer of a running statement must not be trusted. */
  #epoch = 0;
  #last: (Asked & { readonly found: VisitorChangesFound }) | undefined;
  #running: Promise<ErasureMarks | undefined> | undefined;
  #next: Promise<ErasureMarks | undefined> | undefined;
  /** Snapshots and times of the calls of `forgetOld`, oldest last. */
  readonly #moments: { readonly snapshot: string; readonly atMs: number }[] = [];

  constructor(db: Queryable, cache: VisitorCache, trustedMs: number) {
    this.#db = db;
    this.#cache = cache;
    this.#trustedMs = trustedMs;
  }

  /**
   * The erasures, if the last answer is still trusted for events received up to a time; else undefined. A process that
   * was suspended, so that its monotonic clock stood still, does not trust the answer for events received meanwhile.
   */
  trusted(receivedUntilMs: number): ErasureMarks | undefined {
    if (this.#answer === undefined) return undefined;
    const { marks, askedMs, askedAtMs } = this.#answer;
    const isRecent = performance.now() - askedMs < this.#trustedMs && receivedUntilMs - askedAtMs < this.#trustedMs;
    return isRecent ? marks : undefined;
  }

  /** Discards every answer requested before this call. */
  distrust(): void {
    this.#epoch += 1;
    this.#answer = undefined;
  }

  /**
   * Resolves once the cache knows every change committed before the call. Returns the erasures up to then; undefined if
   * changes are not recorded yet.
   */
  catchUp(): Promise<ErasureMarks | undefined> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    // A running statement may have begun before this call.
    this.#next = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  /** Deletes changes that every live reader has read. Any instance may call it, about every minute. */
  async forgetOld(): Promise<void> {
    const nowMs = performance.now();
    const found = await this.#select(undefined);
    if (found === undefined) return;
    this.#moments.unshift({ snapshot: found.snapshot, atMs: nowMs });
    const known = this.#moments.find(({ atMs }) => nowMs - atMs >= keptMs);
    if (known === undefined) return;
    this.#moments.length = this.#moments.indexOf(known) + 1;
    await deleteVisitorChanges(this.#db, known.snapshot);
  }

  #start(): Promise<ErasureMarks | undefined> {
    const reading = this.#read().finally(() => {
      this.#running = undefined;
    });
    this.#running = reading;
    return reading;
  }

  async #read(): Promise<ErasureMarks | undefined> {
    const epoch = this.#epoch;
    const asked = { askedMs: performance.now(), askedAtMs: Date.now() };
    const last = this.#last !== undefined && isWithinGap(this.#last) ? this.#last : undefined;
    this.#last = undefined;
    const found = await this.#select(last?.found.snapshot).catch((error: unknown) => {
      this.#stopFollowing();
      throw error;
    });
    if (found === undefined) {
      this.#stopFollowing();
      return undefined;
    }
    this.#last = { ...asked, found };
    if (epoch === this.#epoch) this.#answer = { ...asked, marks: found.erasures };
    if (found.changes.includes(allVisitors)) this.#cache.forgetAll();
    // Checked again: the process may have been suspended before PostgreSQL got the request.
    const isComplete = last?.found.server === found.server && isWithinGap(last) && !found.isCutShort;
    if (!isComplete) this.#cache.beginFollowing();
    for (const { accountId, id, version } of found.changes) this.#cache.noteChange(accountId, id, version);
    return found.erasures;
  }

  #stopFollowing(): void {
    this.#answer = undefined;
    this.#cache.stopFollowing();
  }

  /** Undefined if changes are not recorded yet. */
  async #select(snapshot: string | undefined): Promise<VisitorChangesFound | undefined> {
    try {
      return await selectVisitorChanges(this.#db, snapshot, statementsMax);
    } catch (error) {
      if (error instanceof DatabaseError && notMigrated.has(error.code)) return undefined;
      throw error;
    }
  }
}

/** Whether changes since the request are still kept. A step of the wall clock only causes a confirmation too many. */
const isWithinGap = ({ askedMs, askedAtMs }: Asked): boolean =>
  performance.now() - askedMs <= gapMaxMs && Math.abs(Date.now() - askedAtMs) <= gapMaxMs;
