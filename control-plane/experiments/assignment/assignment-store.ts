import type { Pool, PoolClient } from 'pg';
import type { Assignments } from '../../../shared/experiments/assign.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { selectChain, selectCluster } from '../../../shared/visitors/alias-statements.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';
import { isErasedNowSql } from '../../../shared/visitors/erasures.ts';
import type { Queryable } from '../../../shared/visitors/visitor-statements.ts';

/** Stored assignments of a visitor. */
export type StoredAssignments = {
  /** Whether the visitor was just erased, or is suppressed: such a visitor has no assignments and gets none. */
  readonly erased: boolean;
  /** Whether the id that was asked for is a visitor's externalId, and no visitor's own id. */
  readonly isExternalId: boolean;
  readonly assignments: Assignments;
  /** Time of each assignment, by experiment id. */
  readonly assignedAt: ReadonlyMap<string, Date>;
};

/** A visitor of an account, by any of its ids or externalIds. */
export type VisitorAsked = { readonly accountId: string; readonly visitorId: string };

/**
 * Reads the assignments of the visitors with the given ids, one result for each id. For merged visitors the earliest
 * assignment counts, so all of their ids get the same variant.
 */
export async function readAssignments(
  db: Queryable,
  asked: readonly VisitorAsked[],
): Promise<readonly StoredAssignments[]> {
  const { rows } = await db.query<AssignmentRecord>({
    name: 'read-experiment-assignments',
    text: readStatement,
    values: [asked.map(({ accountId }) => accountId), asked.map(({ visitorId }) => visitorId)],
  });
  const found = asked.map(() => ({
    erased: false,
    isExternalId: false,
    assignments: new Map<string, string>(),
    assignedAt: new Map<string, Date>(),
  }));
  for (const row of rows) {
    const visitor = found[row.place - 1];
    if (visitor === undefined) continue;
    visitor.erased = row.erased;
    visitor.isExternalId = row.is_external_id;
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

/** A visitor's assignments after one was stored: at least the one to that experiment, unless the visitor is erased. */
export type WrittenAssignment = Pick<StoredAssignments, 'erased' | 'assignments'>;

/**
 * Stores first assignments, except for visitors that already have an assignment or were erased. Returns one result for
 * each assignment. One of several concurrent writers wins; the others read the stored row, so all return its variant.
 */
export function storeAssignments(
  pool: Pool,
  wanted: readonly FirstAssignment[],
): Promise<readonly WrittenAssignment[]> {
  return inTransaction(pool, async (client) => {
    const variants = await insertAssignments(client, wanted);
    const lost = wanted.filter((assignment) => !variants.has(keyOf(assignment)));
    const before = lost.length === 0 ? [] : await readAssignments(client, lost);
    const found = new Map(lost.map((assignment, index) => [assignment, before[index]]));
    return wanted.map((assignment): WrittenAssignment => {
      const variantId = variants.get(keyOf(assignment));
      if (variantId === undefined) return found.get(assignment) ?? nothingStored;
      return { erased: false, assignments: new Map([[assignment.experimentId, variantId]]) };
    });
  });
}

const nothingStored: WrittenAssignment = { erased: false, assignments: new Map() };

/**
 * Inserts assignments that do not exist yet. Returns the variant of each inserted row, by the row's `keyOf`; a row is
 * stored for the visitor to which the given id resolves.
 */
async function insertAssignments(
  client: PoolClient,
  wanted: readonly FirstAssignment[],
): Promise<ReadonlyMap<string, string>> {
  // Sent together and executed in this order. Either an erasure sees these inserts, or these inserts see the erasure.
  const [, { rows }] = await Promise.all([
    holdForWriting(client, [...new Set(wanted.map(({ accountId }) => accountId))]),
    client.query<InsertedRecord>({
      name: 'store-experiment-assignments',
      text: insertStatement,
      values: [
        wanted.map(({ accountId }) => accountId),
        wanted.map(({ visitorId }) => visitorId),
        wanted.map(({ experimentId }) => experimentId),
        wanted.map(({ variantId }) => variantId),
      ],
    }),
  ]);
  return new Map(
    rows.map((row) => [
      keyOf({ accountId: row.account_id, visitorId: row.visitor_id, experimentId: row.experiment_id }),
      row.variant_id,
    ]),
  );
}

function keyOf({ accountId, visitorId, experimentId }: Omit<FirstAssignment, 'variantId'>): string {
  return `${accountId}\n${experimentId}\n${visitorId}`;
}

// Both statements are planned once per session, perhaps while the tables are empty, and the plan is still used when
// they hold millions of rows. `offset 0` keeps the planner from joining in the other order, by account alone, which
// costs the same on an empty table. An id without a visitor has not been merged with another, so no other id is
// searched.

/**
 * The visitor that an id resolves to, and whether the id is a visitor's own; an id that is no visitor's is looked up as
 * an externalId.
 */
const rootChain = `
  select (array_agg(c.id order by c.hop desc))[1] as id, bool_or(c.id = k.id) as is_own from (${selectChain(
    'k.account_id',
    `coalesce(
      (select o.id from visitors o where o.account_id = k.account_id and o.id = k.id),
      (select i.visitor_id from visitor_identities i
        where i.account_id = k.account_id and i.kind = 'external_id' and i.value = k.id))`,
  )}) c having count(*) > 0`;

/** Ids under which an assignment may be stored: of very many, the id that was requested and those nearest to the root. */
const storedIds = `(
      select k.id where root.id is distinct from k.id
      union all
      select c.id from (${selectCluster('k.account_id', 'root.id')}) c where root.id is not null
    ) ids (id)`;

const readStatement = `
  select k.place::int as place, own.erased, own.is_external_id, a.experiment_id, a.variant_id, a.assigned_at
  from unnest($1::uuid[], $2::text[]) with ordinality as k (account_id, id, place)
  left join lateral (${rootChain}) root on true
  cross join lateral (
    select ${isErasedNowSql('k.account_id', 'k.id')} as erased, root.is_own is false as is_external_id
  ) own
  left join lateral (
    select a.experiment_id, a.variant_id, a.assigned_at
    from ${storedIds}
    cross join lateral (
      select a.experiment_id, a.variant_id, a.assigned_at from experiment_assignments a
      where a.account_id = k.account_id and a.visitor_id = ids.id
      offset 0
    ) a
  ) a on true
  where own.erased or own.is_external_id or a.experiment_id is not null
  order by k.place, a.assigned_at, a.variant_id`;

type AssignmentRecord = {
  place: number;
  erased: boolean;
  is_external_id: boolean;
  experiment_id: string | null;
  variant_id: string | null;
  assigned_at: Date | null;
};

// Rows are sorted, so that concurrent writers do not deadlock. An existing assignment with the visitor's own id shows
// as a conflict; an existing assignment with another id of the visitor has to be searched for.
const insertStatement = `
  insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id)
  select k.account_id, coalesce(root.id, k.id), k.experiment_id, k.variant_id
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as k (account_id, id, experiment_id, variant_id)
  left join lateral (${rootChain}) root on true
  where not ${isErasedNowSql('k.account_id', 'k.id')}
    and (
      select true
      from ${storedIds}
      cross join lateral (
        select from experiment_assignments a
        where a.account_id = k.account_id and a.visitor_id = ids.id and a.experiment_id = k.experiment_id
        offset 0
      ) a
      limit 1
    ) is null
  order by 1, 2, 3
  on conflict do nothing
  returning account_id, visitor_id, experiment_id, variant_id`;

type InsertedRecord = { account_id: string; visitor_id: string; experiment_id: string; variant_id: string };
