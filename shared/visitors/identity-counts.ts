import type { Pool } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import { leftOutReasons } from './visitor-store.ts';
import type { Queryable } from './visitor-statements.ts';

/** Why an identifier or property of an event was not given to its visitor. */
export const identityReasons = {
  blocked: 'an identifier that is blocked or a placeholder',
  userHash: 'a userHash that does not match the identifier',
  ...leftOutReasons,
} as const;

export type IdentityReason = keyof typeof identityReasons;

/** A row of `identity_counts`. */
export type IdentityCount = {
  readonly accountId: string;
  readonly hourAtMs: number;
  readonly sourceId: string;
  readonly reason: IdentityReason;
  readonly count: number;
  readonly lastAtMs: number;
};

/** The console shows seven days; one more day is kept as a margin. */
const keptHours = 8 * 24;
const deletedAtOnceMax = 5_000;

/** Adds to hourly counts. Rows are written in the order of the key, so that two writers never deadlock. */
export async function addIdentityCounts(pool: Pool, counted: readonly IdentityCount[]): Promise<void> {
  const times = (pick: (row: IdentityCount) => number) => counted.map((row) => new Date(pick(row)).toISOString());
  const values = [
    counted.map((row) => row.accountId),
    times((row) => row.hourAtMs),
    counted.map((row) => row.sourceId),
    counted.map((row) => row.reason),
    counted.map((row) => row.count),
    times((row) => row.lastAtMs),
  ];
  await inTransaction(pool, (client) => client.query({ name: 'add-identity-counts', text: addStatement, values }), {
    isFlushed: false,
  });
}

const addStatement = `
  insert into identity_counts as i (account_id, hour, source_id, reason, count, last_at)
  select account_id, hour, source_id, reason, sum(count), max(last_at)
  from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])
    as k (account_id, hour, source_id, reason, count, last_at)
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, hour, source_id, reason) do update
  set count = i.count + excluded.count, last_at = greatest(i.last_at, excluded.last_at)`;

/** Deletes counts that are no longer shown. */
export async function deleteOldIdentityCounts(pool: Pool): Promise<void> {
  await pool.query(
    `delete from identity_counts where (account_id, hour, source_id, reason) in (
       select account_id, hour, source_id, reason from identity_counts
       where hour < now() - make_interval(hours => $1) order by hour limit $2 for update skip locked)`,
    [keptHours, deletedAtOnceMax],
  );
}

export type IdentityFigure = {
  readonly sourceId: string;
  readonly reason: IdentityReason;
  readonly count: number;
  readonly lastAt: Date;
};

/** Sums of the counts from the hour of `since` on, by source and reason, largest first. */
export async function readIdentityCounts(
  db: Queryable,
  accountId: string,
  { since, sourceId, limit }: { readonly since: Date; readonly sourceId: string | undefined; readonly limit: number },
): Promise<readonly IdentityFigure[]> {
  const { rows } = await db.query<Omit<IdentityFigure, 'count'> & { count: string }>(
    `select source_id as "sourceId", reason, sum(count) as count, max(last_at) as "lastAt"
     from identity_counts
     where account_id = $1 and hour >= date_trunc('hour', $2::timestamptz) and ($3::text is null or source_id = $3)
     group by source_id, reason order by sum(count) desc, source_id, reason limit $4`,
    [accountId, since, sourceId ?? null, limit],
  );
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}
