import type { Pool } from 'pg';

/**
 * Executes a prepared statement and returns the number of rows that the steps of its plan pass on or filter out, which
 * shows how many rows it reads beyond its result. The pool must have one connection only, on which the statement was
 * prepared. `execute` is the statement's name with its values, as in SQL's EXECUTE.
 */
export async function rowsLookedAt(pool: Pool, execute: string): Promise<number> {
  const { rows } = await pool.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `explain (analyze, format json) execute ${execute}`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (plan === undefined) throw new Error(`explaining ${execute}: there is no plan`);
  return rowsOf(plan);
}

type PlanNode = {
  readonly 'Actual Loops': number;
  /** This number and the next two are averages per loop. */
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
};

function rowsOf(node: PlanNode): number {
  const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), each * node['Actual Loops']);
}
