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
  const found = asked.map(({ visitorId }) => ({ visitorId, erased: false, assignments: new Map<string, string>() }));
  for (const row of rows) {
    const visitor = found[row.place - 1];
    if (visitor === undefined) continue;
    visitor.visitorId = row.visitor_id;
    visitor.erased = row.erased;
    const { experiment_id: experimentId, variant_id: variantId } = row;
    if (row.erased || experimentId === null || variantId === null) continue;
    if (!visitor.assignments.has(experimentId)) visitor.assignments.set(experimentId, variantId);
  }
  return found;
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
    const stored = await readOne(client, { accountId, visitorId });
    if (stored.erased || stored.assignments.has(experimentId)) return stored;
    await client.query(
      `insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id)
        values ($1, $2, $3, $4) on conflict do nothing`,
      [accountId, stored.visitorId, experimentId, variantId],
    );
    return readOne(client, { accountId, visitorId });
  });
}

async function readOne(client: Queryable, asked: VisitorAsked): Promise<StoredAssignments> {
  const [stored] = await readAssignments(client, [asked]);
  return stored ?? { visitorId: asked.visitorId, erased: false, assignments: new Map() };
}

const statement = `
  with own as (
    select k.place, k.account_id, k.id as asked, coalesce(v.merged_into, k.id) as id
    from unnest($1::uuid[], $2::text[]) with ordinality as k (account_id, id, place)
    left join visitors v on v.account_id = k.account_id and v.id = k.id
  )
  select own.place::int as place, own.id as visitor_id, v.erased_at is not null as erased, a.experiment_id, a.variant_id
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
};
