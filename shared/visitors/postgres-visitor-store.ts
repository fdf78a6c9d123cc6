import pLimit from 'p-limit';
import type { Pool, PoolClient } from 'pg';
import { uuidv7 } from 'uuidv7';
import { inTransaction } from '../postgres/in-transaction.ts';
import { shortenChains } from './alias-chains.ts';
import type { AliasRow } from './alias-chains.ts';
import { marksOfAll, selectAccountErasures } from './erasures.ts';
import type { ErasuresByAccount } from './erasures.ts';
import { findAliases, findVisitor } from './find-visitor.ts';
import { mayBeErased } from './is-erased.ts';
import { insertMerges } from './merge-records.ts';
import { loadVisitors } from './load-visitors.ts';
import type { VisitorPlan } from './plan-visitors.ts';
import { planVisitors } from './plan-visitors.ts';
import { isHeldLock, isRefusedValue, isUnreachable, isWriteConflict } from '../postgres/database-failure.ts';
import type { CacheFigures } from './visitor-cache.ts';
import { settleAll, settleVisitors } from './settle-visitors.ts';
import { VisitorCache } from './visitor-cache.ts';
import { VisitorChanges } from './visitor-changes.ts';
import type {
  LookedUpVisitors,
  ResolvedVisitors,
  VisitorOutcome,
  VisitorStore,
  VisitorTouch,
} from './visitor-store.ts';
import { VisitorsFailedError, VisitorsRefusedError, VisitorsUnavailableError } from './visitor-store.ts';
import type { Queryable, VisitorRowKey, WrittenVisitor } from './visitor-statements.ts';
import {
  deleteIdentities,
  insertIdentities,
  insertVisitors,
  lockVisitors,
  updateVisitors,
} from './visitor-statements.ts';
import type { StoredVisitor, VisitorWrite } from './visitor-rows.ts';

export type VisitorStoreOptions = {
  /** Approximate memory limit of the visitor cache. Default 64 MiB. */
  readonly cacheBytesMax?: number;
  /**
   * How long known visitors come from the cache after the last check for changes, in ms. Default 0; resolvers use
   * `memoryTrustedMs`.
   */
  readonly trustedMs?: number;
  /** Size limit of a visitor's properties as JSON text, in bytes. Default 32 KiB. */
  readonly propertiesBytesMax?: number;
};

export type PostgresVisitorStore = VisitorStore & {
  /** Figures of the store's cache of visitors. */
  readonly cache: CacheFigures;
  /** Deletes old records of changes. Each store of a database may do so, about every minute. */
  forgetOldChanges(): Promise<void>;
};

const attemptsMax = 10;

/**
 * Visitors in PostgreSQL, tables `visitors` and `visitor_identities`, through a pool that looks up by key. One
 * statement reports to the cache which visitors changed since the last batch (`visitor_changes`); current cache entries
 * are used, other visitors are read. While the last answer is trusted, a batch of known visitors that changes nothing
 * does not need even that statement. The batch is decided in memory, and written if every row still has the version
 * that was read; otherwise nothing is written and the batch is decided again, under row locks.
 */
export function createVisitorStore(pool: Pool, options: VisitorStoreOptions = {}): PostgresVisitorStore {
  const cache = new VisitorCache(options.cacheBytesMax ?? 64 * 1024 * 1024);
  const planOptions = {
    propertiesBytesMax: options.propertiesBytesMax ?? 32 * 1024,
    newVisitorId: uuidv7,
  };

  const changes = new VisitorChanges(pool, cache, options.trustedMs ?? 0);

  /**
   * Distinguishes values that the database will never accept, visitors for which it fails, and an unavailable database.
   * To find out, right after the failure it writes a visitor that belongs to no account, and rolls that back.
   */
  const classify = async (doing: string, error: unknown): Promise<Error> => {
    if (error instanceof VisitorsUnavailableError) return error;
    const message = `${doing}: ${messageOf(error)}`;
    if (isRefusedValue(error)) return new VisitorsRefusedError(message, { cause: error });
    if (isUnreachable(error) || !(await takesVisitors(pool))) {
      return new VisitorsUnavailableError(message, { cause: error });
    }
    return new VisitorsFailedError(message, { cause: error, isHeld: isHeldLock(error) });
  };

  const classified = async <Result>(doing: string, work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw await classify(doing, error);
    }
  };

  const shorten = (aliases: readonly AliasRow[]): Promise<void> => shortenChains(pool, aliases);

  /** Outcomes of touches that are all known and change nothing, while the cache is trusted. */
  const fromMemory = (touches: readonly VisitorTouch[]): readonly VisitorOutcome[] | undefined => {
    const newestMs = touches.reduce((newest, { receivedAtMs }) => Math.max(newest, receivedAtMs), -Infinity);
    const marks = changes.trusted(newestMs);
    if (marks === undefined || touches.some((touch) => mayBeErased(touch, marks))) return undefined;
    return settleAll(touches, cache);
  };

  const decide = async (touches: readonly VisitorTouch[]): Promise<Decided> => {
    const known = fromMemory(touches);
    if (known !== undefined) return { plan: { ...nothingToWrite, outcomes: known }, erasures: new Map() };
    // A failure here is not caused by any visitor.
    const marks = await changes.catchUp().catch((error: unknown) => {
      throw new VisitorsUnavailableError(`following changes of visitors: ${messageOf(error)}`, { cause: error });
    });
    const accounts = accountsOf(touches);
    const areLater = touches.every(({ receivedAtMs }) => receivedAtMs > (marks?.newestAtMs ?? Infinity));
    const erasures =
      marks !== undefined && areLater && !marks.hasSuppressions
        ? marksOfAll(accounts, marks)
        : await selectAccountErasures(pool, accounts);
    const settled = settleVisitors(touches, cache, erasures);
    const open = touches.filter((_, index) => settled[index] === undefined);
    const loaded = await loadVisitors(pool, { touches: open, erasures }, cache, shorten);
    const plan = planVisitors(open, loaded.of, planOptions);
    const planned = plan.outcomes.values();
    const outcomes = settled.map((outcome) => outcome ?? (planned.next().value as VisitorOutcome));
    return { plan: { ...plan, outcomes }, erasures };
  };

  // One connection stays free for look-ups, however many writes wait.
  const writeTurn = pLimit(Math.max(1, pool.options.max - 1));
  const writing = <Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> =>
    writeTurn(() => inTransaction(pool, work));

  const writeAtOnce = async ({ plan, erasures }: Decided): Promise<Attempt> =>
    plan.changed.size === 0
      ? { plan, written: nothingWritten }
      : { plan, written: await writing((client) => writePlan(client, plan, erasures)) };

  const attemptAtOnce = async (touches: readonly VisitorTouch[]): Promise<Attempt> =>
    writeAtOnce(await decide(touches));

  const attemptLocked = (touches: readonly VisitorTouch[]): Promise<Attempt> =>
    writing(async (client) => {
      const nobody: ErasuresByAccount = new Map();
      await lockVisitors(
        client,
        (await loadVisitors(client, { touches, erasures: nobody }, undefined, undefined)).all(),
      );
      const erasures = await selectAccountErasures(client, accountsOf(touches));
      const plan = planVisitors(
        touches,
        (await loadVisitors(client, { touches, erasures }, undefined, undefined)).of,
        planOptions,
      );
      return { plan, written: await writePlan(client, plan, erasures) };
    });

  const resolve = async (
    touches: readonly VisitorTouch[],
    firstAttempt: () => Promise<Attempt>,
  ): Promise<ResolvedVisitors> => {
    for (let attempt = 1; ; attempt += 1) {
      const writing = cache.beginReading();
      try {
        const { plan, written } = await (attempt === 1 ? firstAttempt() : attemptLocked(touches));
        cache.takeWritten({ ...written, newIdentities: plan.newIdentities }, writing);
        return {
          outcomes: plan.outcomes,
          created: written.created,
          updated: written.updated,
          merged: plan.merges.length,
        };
      } catch (error) {
        const repeatable = error instanceof ConcurrentWriteError || isWriteConflict(error);
        if (!repeatable || attempt === attemptsMax) throw await classify('resolving visitors', error);
        await new Promise((done) => setTimeout(done, Math.random() * 10 * attempt));
      } finally {
        cache.endReading(writing);
      }
    }
  };

  const lookUp = async (touches: readonly VisitorTouch[]): Promise<LookedUpVisitors> => {
    const { plan, erasures } = await decide(touches);
    const { changed } = plan;
    const isLeft = touches.map(({ accountId }) => changed.has(accountId));
    return {
      outcomes: plan.outcomes.map((outcome, index) => (isLeft[index] === true ? undefined : outcome)),
      write: () => {
        const left = touches.filter((_, index) => isLeft[index]);
        const outcomes = plan.outcomes.filter((_, index) => isLeft[index]);
        return resolve(left, () => writeAtOnce({ plan: { ...plan, outcomes }, erasures }));
      },
    };
  };

  return {
    get cache() {
      return cache.figures;
    },
    resolve: (touches) =>
      touches.length === 0 ? Promise.resolve(nothing) : resolve(touches, () => attemptAtOnce(touches)),
    lookUp: (touches) => classified('looking visitors up', lookUp(touches)),
    distrust: () => changes.distrust(),
    forgetOldChanges: () => classified('forgetting changes of visitors', changes.forgetOld()),
    aliasesOf: (accountId, ids) => classified('finding aliases', findAliases(pool, accountId, ids)),
    find: (accountId, key) => classified('finding a visitor', findVisitor(pool, accountId, key)),
  };
}

/** A plan, and the erasures read before its visitors. */
type Decided = { readonly plan: VisitorPlan; readonly erasures: ErasuresByAccount };

const accountsOf = (rows: readonly { readonly accountId: string }[]): ReadonlySet<string> =>
  new Set(rows.map(({ accountId }) => accountId));

type Attempt = { readonly plan: VisitorPlan; readonly written: PlanWritten };

const nothingToWrite = { writes: [], newIdentities: [], merges: [], cleared: [], changed: new Set<string>() };

const nothingWritten: PlanWritten = { visitors: [], released: [], created: 0, updated: 0 };

const nothing: ResolvedVisitors = { outcomes: [], created: 0, updated: 0, merged: 0 };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A limit for writing one new visitor, in ms: a database that takes longer is slow for all visitors. */
const quickMs = 2_000;
const nobodysAccount = '00000000-0000-0000-0000-000000000000';

async function takesVisitors(pool: Pool): Promise<boolean> {
  const startedAtMs = performance.now();
  const enough = new Error('rolled back');
  try {
    await inTransaction(pool, async (client) => {
      await client.query('insert into visitors (account_id, id) values ($1, $2)', [nobodysAccount, uuidv7()]);
      throw enough;
    });
  } catch (error) {
    return error === enough && performance.now() - startedAtMs < quickMs;
  }
  return false;
}

type PlanWritten = {
  readonly visitors: readonly StoredVisitor[];
  /** Visitors of which identities were removed. */
  readonly released: readonly VisitorRowKey[];
  readonly created: number;
  readonly updated: number;
};

/** Another writer changed one of the rows after they were read. The transaction must be rolled back. */
class ConcurrentWriteError extends Error {
  readonly code = 'concurrent_write';
}

/**
 * Writes a plan within a transaction; throws ConcurrentWriteError if a row or identity has changed since it was read.
 * Visitors come before new identities, and rows in the order of their keys, so that writers do not deadlock.
 */
export async function writePlan(db: Queryable, plan: VisitorPlan, erasures: ErasuresByAccount): Promise<PlanWritten> {
  const inserts = inKeyOrder(plan.writes.filter((write) => write.stored === undefined));
  const updates = inKeyOrder(plan.writes.filter((write) => write.stored !== undefined));
  // Sent together and executed in this order: identities are deleted before any visitors are merged.
  const [released, , inserted, updated, identities] = await Promise.all([
    deleteIdentities(db, plan.cleared, updates),
    // Copies the properties of rows before they are merged.
    insertMerges(db, plan.merges),
    insertVisitors(db, inserts),
    updateVisitors(db, updates),
    insertIdentities(db, plan.newIdentities),
    inserts.length + plan.newIdentities.length === 0 ? undefined : expectNoErasure(db, plan, erasures),
  ]);
  expectAll(inserted.length, inserts.length, 'new visitors');
  expectAll(updated.length, updates.length, 'visitors');
  expectAll(identities, plan.newIdentities.length, 'identities');
  const written = [...match(inserts, inserted), ...match(updates, updated)];
  const visitors = written.map(([write, row]) => asStored(write, row));
  return { visitors, released, created: inserted.length, updated: updated.length };
}

/**
 * A visitor or identity may be new because it was erased after the erasures were read; then the event belongs to the
 * erased visitor. An existing row is safe: an erasure deletes it, and the write expects its version.
 */
async function expectNoErasure(db: Queryable, { changed }: VisitorPlan, erasures: ErasuresByAccount): Promise<void> {
  for (const [accountId, { newestAtMs }] of await selectAccountErasures(db, changed)) {
    if (newestAtMs <= (erasures.get(accountId)?.newestAtMs ?? -Infinity)) continue;
    throw new ConcurrentWriteError('writing visitors: a visitor of the account was erased meanwhile');
  }
}

function expectAll(written: number, wanted: number, what: string): void {
  if (written !== wanted) throw new ConcurrentWriteError(`writing ${what}: another writer was first`);
}

/** Both lists are in the order of keys and of the same length. */
function match(writes: readonly VisitorWrite[], rows: WrittenVisitor[]): [VisitorWrite, WrittenVisitor][] {
  const sorted = inKeyOrder(rows);
  return writes.flatMap((write, index) => {
    const row = sorted[index];
    return row === undefined ? [] : [[write, row]];
  });
}

function inKeyOrder<Row extends { readonly accountId: string; readonly id: string }>(rows: Row[]): Row[] {
  return rows.sort((a, b) => compare(a.accountId, b.accountId) || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function asStored(write: VisitorWrite, row: WrittenVisitor): StoredVisitor {
  return {
    version: (write.stored?.version ?? 0) + 1,
    properties: write.properties,
    mergedInto: write.mergedInto,
    signedInAs: write.signedInAs,
    setByServer: write.setByServer,
    apart: write.apart,
    externalIds: write.externalIds,
    emails: write.emails,
    aliases: write.aliases,
    ...row,
  };
}
