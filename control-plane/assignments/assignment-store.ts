import type { Pool } from 'pg';
import type { Assignments } from '../../shared/experiments/assign.ts';
import { inTransaction } from '../../shared/storage/in-transaction.ts';
import { holdForWriting } from '../../shared/visitors/erasure-lock.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** What is stored of a visitor's experiments. */
export type StoredAssignments = {
  /** The id the visitor goes by, after merges. */
  readonly visitorId: string;
  /** An erased visitor has no assignments and gets none. */
  readonly erased: boolean;
  readonly assignments: Assignments;
};

/**
 * Reads the assignments of the visitor an id leads to. Of visitors that were merged the earliest assignment counts, so
 * all of their ids are given the same variant.
 */
export async function readAssignments(db: Queryable, accountId: string, visitorId: string): Promise<StoredAssignments> {
  const { rows } = await db.query<AssignmentRecord>({
    name: 'read-experiment-assignments',
    text: `
      with own as (
        select coalesce(v.merged_into, k.id) as id
        from (select $2::text as id) k left join visitors v on v.account_id = $1 and v.id = k.id
      )
      select own.id as visitor_id, v.erased_at is not null as erased, a.experiment_id, a.variant_id
      from own
      left join visitors v on v.account_id = $1 and v.id = own.id
      left join lateral (
        select a.experiment_id, a.variant_id, a.assigned_at
        from (
          select own.id union select $2::text
          union select m.id from visitors m where m.account_id = $1 and m.merged_into = own.id
        ) k (id)
        join experiment_assignments a on a.account_id = $1 and a.visitor_id = k.id
      ) a on true
      order by a.assigned_at, a.variant_id`,
    values: [accountId, visitorId],
  });
  const assignments = new Map<string, string>();
  for (const { experiment_id: experimentId, variant_id: variantId } of rows) {
    if (experimentId === null || variantId === null) continue;
    if (!assignments.has(experimentId)) assignments.set(experimentId, variantId);
  }
  const erased = rows[0]?.erased ?? false;
  return { visitorId: rows[0]?.visitor_id ?? visitorId, erased, assignments: erased ? new Map() : assignments };
}

/**
 * Stores a first assignment, unless the visitor has one by now or was erased, and reads what counts. Of any number of
 * writers at once one wins, and all of them are told of it.
 */
export function storeAssignment(
  pool: Pool,
  accountId: string,
  visitorId: string,
  { experimentId, variantId }: { readonly experimentId: string; readonly variantId: string },
): Promise<StoredAssignments> {
  return inTransaction(pool, async (client) => {
    // An erasure sees what is written here, or is seen by the read that follows.
    await holdForWriting(client, [accountId]);
    const stored = await readAssignments(client, accountId, visitorId);
    if (stored.erased || stored.assignments.has(experimentId)) return stored;
    await client.query(
      `insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id)
        values ($1, $2, $3, $4) on conflict do nothing`,
      [accountId, stored.visitorId, experimentId, variantId],
    );
    return readAssignments(client, accountId, visitorId);
  });
}

type AssignmentRecord = {
  visitor_id: string;
  erased: boolean;
  experiment_id: string | null;
  variant_id: string | null;
};
