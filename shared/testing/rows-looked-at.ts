import type { Pool } from 'pg';

/**
 * Rows that the steps of a prepared statement's plan pass on or throw away: how far it looks beyond what it is asked for.
 * The pool has one connection, on which the statement was prepared. `execute` names it and its values, as SQL's EXECUTE does.
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
  /** These three are of each loop. */
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
};

function rowsOf(node: PlanNode): number {
  const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), each * node['Actual Loops']);
}
