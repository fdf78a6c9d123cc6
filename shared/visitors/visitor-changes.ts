import { DatabaseError } from 'pg';
import type { VisitorCache } from './visitor-cache.ts';
import type { ErasureMarks } from './visitor-rows.ts';
import { allVisitors, deleteVisitorChanges, selectVisitorChanges } from './visitor-statements.ts';
import type { Queryable, VisitorChangesFound } from './visitor-statements.ts';

/** After a longer gap everything in the cache is confirmed instead, in ms. Changes are kept for several times as long. */
const gapMaxMs = 60_000;
const keptMs = 5 * gapMaxMs;

/** Statements whose changes are read at once; where there are more everything in the cache is confirmed instead. */
const statementsMax = 500;

/** A database that was not migrated yet, or whose roles were not: undefined table, insufficient privilege. */
const notMigrated: ReadonlySet<string | undefined> = new Set(['42P01', '42501']);

/**
 * Keeps a cache informed of every change of visitors: one short statement a batch, however many visitors and writers
 * there are, instead of reading every visitor's row.
 */
export class VisitorChanges {
  readonly #db: Queryable;
  readonly #cache: VisitorCache;
  #last: { readonly found: VisitorChangesFound; readonly atMs: number } | undefined;
  #running: Promise<ErasureMarks | undefined> | undefined;
  #next: Promise<ErasureMarks | undefined> | undefined;
  /** The oldest moments last, one each time changes were forgotten. */
  readonly #moments: { readonly snapshot: string; readonly atMs: number }[] = [];

  constructor(db: Queryable, cache: VisitorCache) {
    this.#db = db;
    this.#cache = cache;
  }

  /**
   * The cache knows, when this is done, of every change that was committed before it was called. Returns what was erased
   * by then; undefined where changes are not recorded yet.
   */
  catchUp(): Promise<ErasureMarks | undefined> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    // What is being read may be from before this call.
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
    const nowMs = performance.now();
    const last = this.#last !== undefined && nowMs - this.#last.atMs <= gapMaxMs ? this.#last.found : undefined;
    this.#last = undefined;
    const found = await this.#select(last?.snapshot).catch((error: unknown) => {
      this.#cache.stopFollowing();
      throw error;
    });
    if (found === undefined) {
      this.#cache.stopFollowing();
      return undefined;
    }
    this.#last = { found, atMs: nowMs };
    if (found.changes.includes(allVisitors)) this.#cache.forgetAll();
    if (last?.server !== found.server || found.isCutShort) this.#cache.beginFollowing();
    for (const { accountId, id, version } of found.changes) this.#cache.noteChange(accountId, id, version);
    return found.erasures;
  }

  /** Undefined where changes are not recorded yet. */
  async #select(snapshot: string | undefined): Promise<VisitorChangesFound | undefined> {
    try {
      return await selectVisitorChanges(this.#db, snapshot, statementsMax);
    } catch (error) {
      if (error instanceof DatabaseError && notMigrated.has(error.code)) return undefined;
      throw error;
    }
  }
}
