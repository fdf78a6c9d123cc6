import type { Queryable } from './visitor-statements.ts';

/** An API key. */
export type Actor = { readonly id: string; readonly name: string };

/** Rows that an erasure deleted, by kind. */
export type ErasureCounts = {
  /** The visitor and the visitors merged into it. */
  readonly visitors: number;
  /** Ids of these visitors, externalIds and e-mail addresses. */
  readonly identifiers: number;
  readonly recentEvents: number;
  readonly experimentAssignments: number;
  /** Rows in the results of experiments. */
  readonly experimentVisitors: number;
};

/** The record of an erasure. It does not name the visitor. */
export type ErasureRecord = {
  readonly id: string;
  readonly requestedAtMs: number;
  /** Events received up to this time are dropped. */
  readonly erasedAtMs: number;
  readonly actor: Actor;
  readonly reference: string | undefined;
  readonly isSuppressed: boolean;
  readonly counts: ErasureCounts;
  /** When all destinations must have deleted the visitor; undefined if no destination was asked. */
  readonly dueAtMs: number | undefined;
  /** Whether the visitor's identifiers are still stored, for destinations that have not deleted it. */
  readonly hasSubject: boolean;
};

export async function insertErasureRecord(
  db: Queryable,
  accountId: string,
  record: Omit<ErasureRecord, 'dueAtMs' | 'hasSubject'>,
): Promise<void> {
  const { id, requestedAtMs, erasedAtMs, actor, reference, isSuppressed, counts } = record;
  await db.query(
    `insert into erasure_records
        (id, account_id, requested_at, erased_at, actor_id, actor_name, reference, suppressed, counts)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      id,
      accountId,
      new Date(requestedAtMs),
      new Date(erasedAtMs),
      actor.id,
      actor.name,
      reference,
      isSuppressed,
      JSON.stringify(counts),
    ],
  );
}

/** Stores the visitor's sealed identifiers until destinations have deleted it. */
export async function forwardErasureRecord(
  db: Queryable,
  id: string,
  { dueAtMs, subject }: { readonly dueAtMs: number; readonly subject: string },
): Promise<void> {
  await db.query('update erasure_records set due_at = $2, subject = $3 where id = $1', [
    id,
    new Date(dueAtMs),
    subject,
  ]);
}

export async function moveErasureRecord(db: Queryable, id: string, erasedAtMs: number): Promise<void> {
  await db.query('update erasure_records set erased_at = $2 where id = $1', [id, new Date(erasedAtMs)]);
}

type ErasureRow = {
  id: string;
  requested_at: Date;
  erased_at: Date;
  actor_id: string;
  actor_name: string;
  reference: string | null;
  suppressed: boolean;
  counts: ErasureCounts;
  due_at: Date | null;
  subject: string | null;
};

export type ErasurePage = {
  readonly limit: number;
  /** The last record of the previous page. */
  readonly after: Pick<ErasureRecord, 'id' | 'requestedAtMs'> | undefined;
};

/** Up to `limit` erasures of an account, newest first. */
export async function selectErasureRecords(
  db: Queryable,
  accountId: string,
  { limit, after }: ErasurePage,
): Promise<readonly ErasureRecord[]> {
  const { rows } = await db.query<ErasureRow>(
    `select * from erasure_records
      where account_id = $1 and ($2::timestamptz is null or (requested_at, id) < ($2, $3::uuid))
      order by requested_at desc, id desc limit $4`,
    [accountId, after === undefined ? null : new Date(after.requestedAtMs), after?.id, limit],
  );
  return rows.map(recordOf);
}

export async function selectErasureRecord(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<ErasureRecord | undefined> {
  const { rows } = await db.query<ErasureRow>('select * from erasure_records where account_id = $1 and id = $2::uuid', [
    accountId,
    id,
  ]);
  return rows[0] && recordOf(rows[0]);
}

function recordOf(row: ErasureRow): ErasureRecord {
  return {
    id: row.id,
    requestedAtMs: row.requested_at.getTime(),
    erasedAtMs: row.erased_at.getTime(),
    actor: { id: row.actor_id, name: row.actor_name },
    reference: row.reference ?? undefined,
    isSuppressed: row.suppressed,
    counts: row.counts,
    dueAtMs: row.due_at?.getTime(),
    hasSubject: row.subject !== null,
  };
}
