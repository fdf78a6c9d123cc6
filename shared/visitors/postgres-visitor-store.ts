import type { Pool, PoolClient } from 'pg';
import { uuidv7 } from 'uuidv7';
import { eraseVisitor, findVisitor } from './find-visitor.ts';
import { loadVisitors } from './load-visitors.ts';
import type { LoadedVisitors } from './load-visitors.ts';
import { planVisitors } from './plan-visitors.ts';
import { classifyStorageError, isWriteConflict } from './storage-failure.ts';
import { VisitorCache } from './visitor-cache.ts';
import type { ResolvedVisitors, VisitorStore, VisitorTouch } from './visitor-store.ts';
import { lockVisitors } from './visitor-statements.ts';
import { ConcurrentWriteError, writePlan } from './write-visitors.ts';
import type { PlanWritten } from './write-visitors.ts';

export type VisitorStoreOptions = {
  /** Memory the cache of visitors may take, about. Default 64 MiB. */
  readonly cacheBytesMax?: number;
  /** Properties of one visitor as JSON text, at most. Default 128 Ki characters. */
  readonly propertiesLengthMax?: number;
};

const attemptsMax = 10;

/**
 * Visitors in PostgreSQL, tables `visitors` and `visitor_identities`. A batch is read (or confirmed, where the cache
 * has it), decided in memory, and written on the condition that every row is still at the version it was read at; if
 * another writer was there in between, nothing is written and the batch is decided again, under row locks.
 */
export function createVisitorStore(pool: Pool, options: VisitorStoreOptions = {}): VisitorStore {
  const cache = new VisitorCache(options.cacheBytesMax ?? 64 * 1024 * 1024);
  const planOptions = {
    propertiesLengthMax: options.propertiesLengthMax ?? 128 * 1024,
    newVisitorId: uuidv7,
  };

  const tryOptimistic = async (touches: readonly VisitorTouch[]): Promise<Attempt> => {
    const loaded = await loadVisitors(pool, touches, cache);
    const plan = planVisitors(touches, loaded, planOptions);
    if (plan.writes.length === 0) return { plan, written: undefined };
    return inTransaction(pool, async (client) => ({ plan, written: await writePlan(client, plan) }));
  };

  const tryLocked = (touches: readonly VisitorTouch[]): Promise<Attempt> =>
    inTransaction(pool, async (client) => {
      const seen: LoadedVisitors = await loadVisitors(client, touches, undefined);
      await lockVisitors(client, [...seen.rows.values()]);
      const loaded = await loadVisitors(client, touches, undefined);
      const plan = planVisitors(touches, loaded, planOptions);
      return { plan, written: await writePlan(client, plan) };
    });

  const resolve = async (touches: readonly VisitorTouch[]): Promise<ResolvedVisitors> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { plan, written } = await (attempt === 1 ? tryOptimistic(touches) : tryLocked(touches));
        for (const visitor of written?.visitors ?? []) cache.setVisitor(visitor);
        for (const row of plan.newIdentities) cache.setIdentity(row.accountId, row.kind, row.value, row.visitorId);
        return {
          outcomes: plan.outcomes,
          created: written?.created ?? 0,
          updated: written?.updated ?? 0,
          merged: plan.merges.length,
          oversized: plan.oversized,
        };
      } catch (error) {
        const repeatable = error instanceof ConcurrentWriteError || isWriteConflict(error);
        if (!repeatable || attempt === attemptsMax) throw classifyStorageError('resolving visitors', error);
        await new Promise((done) => setTimeout(done, Math.random() * 10 * attempt));
      }
    }
  };

  return {
    resolve: (touches) => (touches.length === 0 ? Promise.resolve(nothing) : resolve(touches)),
    find: (accountId, key) => findVisitor(pool, accountId, key),
    erase: (accountId, id) => inTransaction(pool, (client) => eraseVisitor(client, accountId, id)),
  };
}

type Attempt = { readonly plan: ReturnType<typeof planVisitors>; readonly written: PlanWritten | undefined };

const nothing: ResolvedVisitors = { outcomes: [], created: 0, updated: 0, merged: 0, oversized: 0 };

async function inTransaction<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection whose rollback fails is thrown away rather than handed to the next caller.
    broken = await client.query('rollback').then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.release(broken);
  }
}
