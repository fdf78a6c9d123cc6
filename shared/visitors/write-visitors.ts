import type { VisitorPlan } from './plan-visitors.ts';
import type { StoredVisitor } from './stored-visitor.ts';
import {
  deleteIdentities,
  insertIdentities,
  insertVisitors,
  moveToSurvivors,
  updateVisitors,
} from './visitor-statements.ts';
import type { VisitorWrite } from './visitor-rows.ts';
import type { Queryable, WrittenVisitor } from './visitor-statements.ts';

export type PlanWritten = {
  readonly visitors: readonly StoredVisitor[];
  readonly created: number;
  readonly updated: number;
};

/** Another writer changed one of the rows since they were read. The transaction has to be rolled back. */
export class ConcurrentWriteError extends Error {
  readonly code = 'concurrent_write';
}

/**
 * Writes what was decided, inside a transaction; throws ConcurrentWriteError when a row or identity is no longer as
 * it was read. Visitors come before identities, and rows in the order of their keys, so that writers do not deadlock.
 */
export async function writePlan(db: Queryable, plan: VisitorPlan): Promise<PlanWritten> {
  const inserts = inKeyOrder(plan.writes.filter((write) => write.stored === undefined));
  const updates = inKeyOrder(plan.writes.filter((write) => write.stored !== undefined));
  const inserted = await insertVisitors(db, inserts);
  expectAll(inserted.length, inserts.length, 'new visitors');
  const updated = await updateVisitors(db, updates);
  expectAll(updated.length, updates.length, 'visitors');
  await deleteIdentities(db, plan.cleared);
  expectAll(await insertIdentities(db, plan.newIdentities), plan.newIdentities.length, 'identities');
  await moveToSurvivors(db, plan.merges);
  const written = [...match(inserts, inserted), ...match(updates, updated)];
  const visitors = written.map(([write, row]) => asStored(write, row));
  return { visitors, created: inserted.length, updated: updated.length };
}

function expectAll(written: number, wanted: number, what: string): void {
  if (written !== wanted) throw new ConcurrentWriteError(`writing ${what}: another writer was first`);
}

/** Both in the order of keys, and of the same length. */
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
    ...row,
    version: (write.stored?.version ?? 0) + 1,
    properties: write.properties,
    mergedInto: write.mergedInto,
    erased: false,
  };
}
