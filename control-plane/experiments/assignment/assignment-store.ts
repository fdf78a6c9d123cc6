import type { Pool } from 'pg';
import type { Assignments } from '../../../shared/experiments/assign.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';
import type { Queryable } from '../../../shared/visitors/visitor-statements.ts';

/** What is stored of a visitor's experiments. */
export type StoredAssignments = {
  /** The id the visitor goes by, after merges. */
  readonly visitorId: string;
  /** An erased visitor has no assignments and gets none. */
  readonly erased: boolean;
  readonly assignments: Assignments;
  /** When each was made, by experiment id. */
  readonly assignedAt: ReadonlyMap<string, Date>;
};

/** A visitor of an account, by any of its ids. */
export type VisitorAsked = { readonly accountId: string; readonly visitorId: string };

/**
 * Reads the assignments of the visitors that ids lead to, one answer an id. Of visitors that were merged the earliest
 * assignment counts, so all of their ids are given the same variant.
 */
export async function readAssignments(
  db: Queryable,
  asked: readonly VisitorAsked[],
): Promise<readonly StoredAssignments[]> {
  const { rows } = await db.query<AssignmentRecord>({
    name: 'read-experiment-assignments',
    text: statement,
    values: [asked.map(({ accountId }) => accountId), asked.map(({ visitorId }) => visitorId)],
  });
  const found = asked.map(({ visitorId }) => ({
    visitorId,
    erased: false,
    assignments: new Map<string, string>(),
    assignedAt: new Map<string, Date>(),
  }));
  for (const row of rows) {
    const visitor = found[row.place - 1];
    if (visitor === undefined) continue;
    visitor.visitorId = row.visitor_id;
    visitor.erased = row.erased;
    const { experiment_id: experimentId, variant_id: variantId, assigned_at: at } = row;
    if (row.erased || experimentId === null || variantId === null || at === null) continue;
    if (visitor.assignments.has(experimentId)) continue;
    visitor.assignments.set(experimentId, variantId);
    visitor.assignedAt.set(experimentId, at);
  }
  return found;
}

/** How many assignments an account has, up to `assignmentsMax`. */
export async function countAssignments(db: Queryable, accountId: string, assignmentsMax: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-experiment-assignments',
    text: `select count(*)::int as count from (
      select from experiment_assignments where account_id = $1 limit $2) as stored`,
    values: [accountId, assignmentsMax],
  });
  return rows[0]?.count ?? 0;
}

/** A visitor's first assignment to an experiment. */
export type FirstAssignment = VisitorAsked & { readonly experimentId: string; readonly variantId: string };

/**
 * Stores first assignments, of those who have none by now and were not erased, and reads what counts, one answer an
 * assignment. Of any number of writers at once one wins, and all of them are told of it.
 */
export function storeAssignments(
  pool: Pool,
  wanted: readonly FirstAssignment[],
): Promise<readonly StoredAssignments[]> {
  return inTransaction(pool, async (client) => {
    // An erasure sees what is written here, or is seen by the read that follows.
    await holdForWriting(client, [...new Set(wanted.map(({ accountId }) => accountId))]);
    const stored = await readAssignments(client, wanted);
    const missing = wanted.flatMap(({ accountId, experimentId, variantId }, index) => {
      const visitor = stored[index];
      if (visitor === undefined || visitor.erased || visitor.assignments.has(experimentId)) return [];
      return [{ accountId, visitorId: visitor.visitorId, experimentId, variantId }];
    });
    if (missing.length === 0) return stored;
    // In one order, so that writers at once do not wait for each other in a ring.
    await client.query({
      name: 'store-experiment-assignments',
      text: `
        insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id)
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
          as k (account_id, visitor_id, experiment_id, variant_id)
        order by account_id, visitor_id, experiment_id
        on conflict do nothing`,
      values: [
        missing.map(({ accountId }) => accountId),
        missing.map(({ visitorId }) => visitorId),
        missing.map(({ experimentId }) => experimentId),
        missing.map(({ variantId }) => variantId),
      ],
    });
    return readAssignments(client, wanted);
  });
}

const statement = `
  with own as (
    select k.place, k.account_id, k.id as asked, coalesce(v.merged_into, k.id) as id
    from unnest($1::uuid[], $2::text[]) with ordinality as k (account_id, id, place)
    left join visitors v on v.account_id = k.account_id and v.id = k.id
  )
  select own.place::int as place, own.id as visitor_id, v.erased_at is not null as erased, a.experiment_id, a.variant_id,
    a.assigned_at
  from own
  left join visitors v on v.account_id = own.account_id and v.id = own.id
  left join lateral (
    select a.experiment_id, a.variant_id, a.assigned_at
    from (
      select own.id union select own.asked
      union select m.id from visitors m where m.account_id = own.account_id and m.merged_into = own.id
    ) k (id)
    join experiment_assignments a on a.account_id = own.account_id and a.visitor_id = k.id
  ) a on true
  order by own.place, a.assigned_at, a.variant_id`;

type AssignmentRecord = {
  place: number;
  visitor_id: string;
  erased: boolean;
  experiment_id: string | null;
  variant_id: string | null;
  assigned_at: Date | null;
};
