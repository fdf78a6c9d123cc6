import type { ClientBase, Pool, PoolClient } from 'pg';
import { destinationLabel } from '../../shared/collections/kind-labels.ts';
import { inTransaction } from '../../shared/postgres/in-transaction.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

type Queryable = Pick<ClientBase, 'query'> | Pick<Pool, 'query'>;

/**
 * The state of an erasure at a destination. `requested`: the platform accepted the deletion and does it later.
 * `manual`: an operator has to delete the person and confirm it. `nothing`: the platform stores nothing about a person.
 */
export const targetStates = ['pending', 'requested', 'done', 'nothing', 'manual', 'failed'] as const;
export type TargetState = (typeof targetStates)[number];

/** A destination to which an erasure is forwarded. */
export type ErasureTarget = {
  readonly destinationId: string;
  readonly type: string;
  /** Name of the destination, or of its kind if it has no name. */
  readonly name: string;
  readonly state: TargetState;
  readonly reason: string | undefined;
  /** The platform's own id of the deletion. */
  readonly reference: string | undefined;
  readonly attempts: number;
  readonly nextAttemptAt: Date | undefined;
  readonly requestedAt: Date | undefined;
  readonly doneAt: Date | undefined;
  /** The API key that confirmed that the deletion is done. */
  readonly confirmedBy: string | undefined;
};

export type NewTargets = {
  readonly accountId: string;
  readonly erasureId: string;
  /** When the erased visitor was created. */
  readonly since: Date;
  readonly firstAttemptAt: Date;
};

/**
 * Adds every destination that was enabled while the visitor existed, because it is not recorded which of them got its
 * events. Returns their number.
 */
export async function insertTargets(
  db: Queryable,
  { accountId, erasureId, since, firstAttemptAt }: NewTargets,
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into erasure_destinations (erasure_id, account_id, destination_id, type, name, state, next_attempt_at)
      select $1, $2, destination_id, type, name, 'pending', $4 from published_destinations
      where account_id = $2 and (disabled_at is null or disabled_at >= $3)`,
    [erasureId, accountId, since, firstAttemptAt],
  );
  return rowCount ?? 0;
}

type TargetRow = {
  destination_id: string;
  type: string;
  name: string;
  state: TargetState;
  reason: string | null;
  reference: string | null;
  attempts: number;
  next_attempt_at: Date | null;
  requested_at: Date | null;
  done_at: Date | null;
  confirmed_by: string | null;
};

function targetOf(row: TargetRow): ErasureTarget {
  return {
    destinationId: row.destination_id,
    type: row.type,
    // For a destination without a name, the column `name` has its type.
    name: row.name === row.type ? destinationLabel(row.type) : row.name,
    state: row.state,
    reason: row.reason ?? undefined,
    reference: row.reference ?? undefined,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at ?? undefined,
    requestedAt: row.requested_at ?? undefined,
    doneAt: row.done_at ?? undefined,
    confirmedBy: row.confirmed_by ?? undefined,
  };
}

export async function selectTargets(db: Queryable, accountId: string, erasureId: string): Promise<ErasureTarget[]> {
  const { rows } = await db.query<TargetRow>(
    'select * from erasure_destinations where account_id = $1 and erasure_id = $2 order by name, destination_id',
    [accountId, erasureId],
  );
  return rows.map(targetOf);
}

/** A target that this process works on until its lease ends. */
export type ClaimedTarget = ErasureTarget & {
  readonly accountId: string;
  readonly erasureId: string;
  readonly requestedMs: number;
  readonly dueMs: number;
  readonly isSuppressed: boolean;
  /** The sealed identifiers; undefined once they were deleted. */
  readonly subject: string | undefined;
};

export type Claim = {
  readonly now: Date;
  /** From this time on another process may claim the target. */
  readonly leaseEndsAt: Date;
  readonly max: number;
  /** Maximum number of targets of one account in this claim, so that no account blocks the others. */
  readonly ofAccountMax: number;
};

export async function claimTargets(
  pool: Pool,
  { now, leaseEndsAt, max, ofAccountMax }: Claim,
): Promise<ClaimedTarget[]> {
  type Row = TargetRow & {
    account_id: string;
    erasure_id: string;
    record_requested_at: Date;
    due_at: Date;
    suppressed: boolean;
    subject: string | null;
  };
  const { rows } = await pool.query<Row>(
    `with due as (
        select t.erasure_id, t.destination_id from (
          select distinct account_id from erasure_destinations where next_attempt_at <= $1
        ) a cross join lateral (
          select erasure_id, destination_id, next_attempt_at from erasure_destinations
          where account_id = a.account_id and next_attempt_at <= $1
          order by next_attempt_at limit $4 for update skip locked
        ) t order by t.next_attempt_at limit $3
      )
      update erasure_destinations d set attempts = d.attempts + 1, next_attempt_at = $2
      from due, erasure_records r
      where d.erasure_id = due.erasure_id and d.destination_id = due.destination_id and r.id = d.erasure_id
      returning d.*, r.requested_at as record_requested_at, r.due_at, r.suppressed, r.subject`,
    [now, leaseEndsAt, max, ofAccountMax],
  );
  return rows.map((row) => ({
    ...targetOf(row),
    accountId: row.account_id,
    erasureId: row.erasure_id,
    requestedMs: row.record_requested_at.getTime(),
    dueMs: row.due_at.getTime(),
    isSuppressed: row.suppressed,
    subject: row.subject ?? undefined,
  }));
}

export type SettledTarget = {
  readonly state: TargetState;
  readonly reason: string | undefined;
  readonly reference: string | undefined;
  readonly nextAttemptAt: Date | undefined;
};

/** Stores the result of an attempt, unless another process has claimed the target since. */
export async function settleTarget(
  pool: Pool,
  { accountId, erasureId, destinationId, attempts }: ClaimedTarget,
  { state, reason, reference, nextAttemptAt }: SettledTarget,
  now: Date,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockErasure(client, accountId, erasureId);
    await client.query(
      `update erasure_destinations set state = $4, reason = $5, reference = $6, next_attempt_at = $7,
          requested_at = case when $4 in ('requested', 'done') then coalesce(requested_at, $8) else requested_at end,
          done_at = case when $4 = 'done' then $8 end
        where erasure_id = $1 and destination_id = $2 and attempts = $3 and state in ('pending', 'requested')`,
      [erasureId, destinationId, attempts, state, reason, reference, nextAttemptAt, now],
    );
    await deleteSettledSubject(client, erasureId);
  });
}

/**
 * Two transactions that settle an erasure's last two targets at once would each find the other one open, and keep the
 * identifiers.
 */
async function lockErasure(client: PoolClient, accountId: string, erasureId: string): Promise<void> {
  await client.query('select from erasure_records where account_id = $1 and id = $2 for update', [
    accountId,
    erasureId,
  ]);
}

/** Deletes the identifiers of a person once no destination has to delete the person any more. */
async function deleteSettledSubject(db: Queryable, erasureId: string): Promise<void> {
  await db.query(
    `update erasure_records set subject = null where id = $1 and subject is not null and not exists (
      select from erasure_destinations where erasure_id = $1 and ${isOpenSql()})`,
    [erasureId],
  );
}

/** SQL: whether a target still needs an attempt or an operator. */
export const isOpenSql = (table = 'erasure_destinations'): string =>
  `(${table}.next_attempt_at is not null or ${table}.state in ('failed', 'manual'))`;

/** How long a person's identifiers are kept after the deadline, for the work that the operator still has to do. */
export const keptAfterDueMs = 30 * 86_400_000;

/** Deletes identifiers that have been kept for the maximum time. */
export async function deleteOldSubjects(pool: Pool, now: Date): Promise<void> {
  await pool.query('update erasure_records set subject = null where subject is not null and due_at < $1', [
    new Date(now.getTime() - keptAfterDueMs),
  ]);
}

/** Retries now the targets that failed, are manual, or wait for their next attempt. Returns their number. */
export async function retryTargets(
  db: Queryable,
  accountId: string,
  erasureId: string,
  { now, destinationId }: { readonly now: Date; readonly destinationId: string | undefined },
): Promise<number> {
  const { rowCount } = await db.query(
    `update erasure_destinations set state = 'pending', next_attempt_at = $3
      where account_id = $1 and erasure_id = $2 and ($4::text is null or destination_id = $4)
        and (state in ('failed', 'manual') or (state = 'pending' and next_attempt_at > $3))`,
    [accountId, erasureId, now, destinationId],
  );
  return rowCount ?? 0;
}

/**
 * Records, within a transaction, that an operator has deleted the person at a destination. False if there is nothing to
 * confirm.
 */
export async function confirmTarget(
  client: PoolClient,
  accountId: string,
  erasureId: string,
  { destinationId, by, now }: { readonly destinationId: string; readonly by: string; readonly now: Date },
): Promise<boolean> {
  await lockErasure(client, accountId, erasureId);
  const { rowCount } = await client.query(
    `update erasure_destinations set state = 'done', reason = null, next_attempt_at = null, done_at = $4, confirmed_by = $5
      where account_id = $1 and erasure_id = $2 and destination_id = $3 and state not in ('done', 'nothing')`,
    [accountId, erasureId, destinationId, now, by],
  );
  await deleteSettledSubject(client, erasureId);
  return rowCount === 1;
}

/**
 * A destination's settings in the live version, with sealed secrets; undefined if that version does not have the
 * destination.
 */
export async function selectLiveDestination(
  db: Queryable,
  accountId: string,
  destinationId: string,
): Promise<JsonObject | undefined> {
  const { rows } = await db.query<{ settings: JsonObject | null }>(
    `select d -> 'settings' as settings from accounts a join versions v on v.id = a.live_version_id,
        jsonb_array_elements(v.content -> 'destinations') d
      where a.id = $1 and d ->> 'id' = $2`,
    [accountId, destinationId],
  );
  const [row] = rows;
  return row === undefined ? undefined : (row.settings ?? {});
}

/** Number of open targets by state, and of targets due soon or overdue. */
export type ErasureFigures = {
  readonly pending: number;
  readonly requested: number;
  readonly manual: number;
  readonly failed: number;
  readonly dueSoon: number;
  readonly overdue: number;
};

export async function readErasureFigures(pool: Pool, now: Date, soon: Date): Promise<ErasureFigures> {
  const state = (name: TargetState): string => `count(*) filter (where d.state = '${name}')::int`;
  const { rows } = await pool.query<ErasureFigures>(
    `select ${state('pending')} as pending, ${state('requested')} as requested, ${state('manual')} as manual,
        ${state('failed')} as failed,
        count(*) filter (where r.due_at >= $1 and r.due_at < $2)::int as "dueSoon",
        count(*) filter (where r.due_at < $1)::int as overdue
      from erasure_destinations d join erasure_records r on r.id = d.erasure_id
      where ${isOpenSql('d')}`,
    [now, soon],
  );
  const [figures] = rows;
  if (figures === undefined) throw new Error('counting the open erasures: PostgreSQL returned no row');
  return figures;
}
