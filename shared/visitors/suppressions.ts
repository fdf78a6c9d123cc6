import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import { holdForErasure } from './erasure-lock.ts';
import { deleteOldErasures, erasuresKeptMs, insertErasures } from './erasures.ts';
import type { Identifier } from './visitor-identity.ts';
import type { Queryable } from './visitor-statements.ts';

/** Maximum number of suppressions of an account. */
export const suppressionsMax = 1_000_000;

export type SuppressionRequest = {
  readonly accountId: string;
  readonly identifiers: readonly Identifier[];
  readonly reference: string | undefined;
};

export type Suppressed = {
  readonly created: number;
  readonly existing: number;
  /** Identifiers that belong to a visitor, or that have assignments to experiments. They are not suppressed. */
  readonly owned: readonly Identifier[];
};

export type SuppressOptions = {
  now(): number;
  /** Runs within the transaction. */
  audit(client: PoolClient, created: number): Promise<void>;
};

/** The account has too many suppressions. */
export class SuppressionsFullError extends Error {
  readonly code = 'suppressions_full';
}

/** Transactions that began before the suppression did not end in time. The suppression stays; a retry is harmless. */
export class WritersBusyError extends Error {
  readonly code = 'writers_busy';
}

/**
 * Suppresses identifiers that no visitor has: later events with one of them are dropped. The resolver does not check
 * identifiers of known visitors, so these are not suppressed.
 *
 * A resolver may be writing a visitor with one of the identifiers, which this transaction cannot see yet. Writers that
 * begin later see the suppression; this function waits for the earlier ones, and their visitors keep their identifiers.
 */
export async function suppressIdentifiers(
  pool: Pool,
  request: SuppressionRequest,
  options: SuppressOptions,
): Promise<Suppressed> {
  const { accountId } = request;
  const { created, existing, owned } = await inTransaction(pool, (client) => suppressFree(client, request, options));
  if (created.length === 0) return { created: 0, existing, owned };
  await waitForWriters(pool);
  const taken = await inTransaction(pool, async (client) => {
    // Without the lock, an erasure between the two statements would lose its tombstone.
    await holdForErasure(client, accountId);
    const found = await selectOwned(client, accountId, created);
    if (found.length > 0) await restore(client, accountId, found);
    return found;
  });
  return { created: created.length - taken.length, existing, owned: [...owned, ...taken] };
}

type Known = Identifier & { readonly erasedAt: Date | undefined };

async function suppressFree(
  client: PoolClient,
  { accountId, identifiers, reference }: SuppressionRequest,
  { now, audit }: SuppressOptions,
): Promise<{ readonly created: readonly Known[]; readonly existing: number; readonly owned: readonly Identifier[] }> {
  await holdForErasure(client, accountId);
  const owned = await selectOwned(client, accountId, identifiers);
  const isOwned = new Set(owned);
  const free = await readKnown(
    client,
    accountId,
    identifiers.filter((identifier) => !isOwned.has(identifier)),
  );
  const created = free.filter(({ isSuppressed }) => !isSuppressed);
  if ((await countSuppressions(client, accountId)) + created.length > suppressionsMax) {
    throw new SuppressionsFullError(`an account may have ${suppressionsMax} suppressions`);
  }
  const sinceMs = now();
  if (created.length > 0) {
    // A writer that has already read the erasures must find a newer erasure.
    const atMs = Math.max(sinceMs, (await newestErasureMs(client)) + 1);
    const suppression = { sinceMs, erasureId: undefined, reference };
    await insertErasures(client, { accountId, atMs, suppression }, created);
  }
  await deleteOldErasures(client, accountId, sinceMs - erasuresKeptMs);
  await audit(client, created.length);
  return { created, existing: free.length - created.length, owned };
}

const columnsOf = (identifiers: readonly Identifier[]): readonly [readonly string[], readonly string[]] => [
  identifiers.map(({ kind }) => kind),
  identifiers.map(({ value }) => value),
];

async function selectOwned<Asked extends Identifier>(
  db: Queryable,
  accountId: string,
  identifiers: readonly Asked[],
): Promise<readonly Asked[]> {
  const { rows } = await db.query<{ place: number }>(
    `select k.place::int as place
      from unnest($2::text[], $3::text[]) with ordinality as k (kind, value, place)
      where case when k.kind = 'visitor' then
          exists (select from visitors v where v.account_id = $1 and v.id = k.value)
          or exists (select from experiment_assignments a where a.account_id = $1 and a.visitor_id = k.value)
        else exists (
          select from visitor_identities i where i.account_id = $1 and i.kind = k.kind and i.value = k.value
        ) end
      order by 1`,
    [accountId, ...columnsOf(identifiers)],
  );
  return rows.flatMap(({ place }) => identifiers[place - 1] ?? []);
}

async function readKnown(
  db: Queryable,
  accountId: string,
  identifiers: readonly Identifier[],
): Promise<readonly (Known & { readonly isSuppressed: boolean })[]> {
  const { rows } = await db.query<{ erased_at: Date | null; suppressed: boolean }>(
    `select e.erased_at, coalesce(e.suppressed, false) as suppressed
      from unnest($2::text[], $3::text[]) with ordinality as k (kind, value, place)
      left join erasures e on e.account_id = $1 and e.hash = erasure_hash($1::uuid, k.kind, k.value)
      order by k.place`,
    [accountId, ...columnsOf(identifiers)],
  );
  return identifiers.map((identifier, index) => ({
    ...identifier,
    erasedAt: rows[index]?.erased_at ?? undefined,
    isSuppressed: rows[index]?.suppressed === true,
  }));
}

async function countSuppressions(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    'select count(*) from erasures where account_id = $1 and suppressed',
    [accountId],
  );
  return Number(rows[0]?.count);
}

async function newestErasureMs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ newest: Date | null }>('select max(erased_at) as newest from erasures');
  return rows[0]?.newest?.getTime() ?? -Infinity;
}

const writersTimeoutMs = 10_000;
const writersPollMs = 10;

/** Waits for the transactions that are writing visitors now. */
async function waitForWriters(pool: Pool): Promise<void> {
  const deadlineMs = performance.now() + writersTimeoutMs;
  const first = await selectWriters(pool);
  for (let left = first; left.length > 0;) {
    if (performance.now() > deadlineMs) {
      throw new WritersBusyError(`visitors are still being written after ${writersTimeoutMs} ms`);
    }
    await new Promise((done) => setTimeout(done, writersPollMs));
    const running = new Set(await selectWriters(pool));
    left = left.filter((writer) => running.has(writer));
  }
}

async function selectWriters(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct virtualtransaction as id from pg_locks
      where locktype = 'relation' and granted and mode = 'RowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())
        and relation in ('visitors'::regclass, 'visitor_identities'::regclass, 'experiment_assignments'::regclass)`,
  );
  return rows.map(({ id }) => id);
}

/** Removes the suppression of identifiers. */
async function restore(db: Queryable, accountId: string, identifiers: readonly Known[]): Promise<void> {
  await db.query(
    `with known as (
        select erasure_hash($1::uuid, k.kind, k.value) as hash, k.erased_at
        from unnest($2::text[], $3::text[], $4::timestamptz[]) as k (kind, value, erased_at)
      ), deleted as (
        delete from erasures e using known where e.account_id = $1 and e.hash = known.hash and known.erased_at is null
      )
      update erasures e set erased_at = known.erased_at, suppressed = false, suppressed_at = null, reference = null
      from known where e.account_id = $1 and e.hash = known.hash and known.erased_at is not null`,
    [accountId, ...columnsOf(identifiers), identifiers.map(({ erasedAt }) => erasedAt ?? null)],
  );
}

export type Suppression = {
  /** The keyed hash of the identifier, in hex. */
  readonly id: string;
  /** Undefined if an earlier version suppressed the identifier. */
  readonly kind: Identifier['kind'] | undefined;
  readonly sinceMs: number;
  readonly reference: string | undefined;
  readonly erasureId: string | undefined;
};

export type SuppressionFilters = {
  readonly identifier?: Identifier | undefined;
  readonly erasureId?: string | undefined;
};

export type SuppressionPage = {
  readonly limit: number;
  /** The last suppression of the previous page. */
  readonly after: Pick<Suppression, 'id' | 'sinceMs'> | undefined;
};

/** Up to `limit` suppressions of an account, newest first. */
export async function selectSuppressions(
  db: Queryable,
  accountId: string,
  { identifier, erasureId }: SuppressionFilters,
  { limit, after }: SuppressionPage,
): Promise<readonly Suppression[]> {
  const values: unknown[] = [accountId, limit];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    ...(identifier === undefined
      ? []
      : [`hash = erasure_hash($1::uuid, ${bind(identifier.kind)}, ${bind(identifier.value)})`]),
    ...(erasureId === undefined ? [] : [`erasure_id = ${bind(erasureId)}::uuid`]),
    ...(after === undefined
      ? []
      : [
          `(coalesce(suppressed_at, erased_at), hash) <
            (${bind(new Date(after.sinceMs))}::timestamptz, decode(${bind(after.id)}, 'hex'))`,
        ]),
  ];
  const { rows } = await db.query<SuppressionRow>(
    `select encode(hash, 'hex') as id, kind, coalesce(suppressed_at, erased_at) as since, reference, erasure_id
      from erasures
      where ${['account_id = $1', 'suppressed', ...conditions].join(' and ')}
      order by coalesce(suppressed_at, erased_at) desc, hash desc limit $2`,
    values,
  );
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind ?? undefined,
    sinceMs: row.since.getTime(),
    reference: row.reference ?? undefined,
    erasureId: row.erasure_id ?? undefined,
  }));
}

type SuppressionRow = {
  id: string;
  kind: Identifier['kind'] | null;
  since: Date;
  reference: string | null;
  erasure_id: string | null;
};

/** Removes a suppression: events received after `atMs` are accepted. False if there is none. */
export async function deleteSuppression(
  db: Queryable,
  accountId: string,
  { id, atMs }: { readonly id: string; readonly atMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update erasures set suppressed = false, suppressed_at = null, erasure_id = null, reference = null,
        erased_at = $3
      where account_id = $1 and hash = decode($2, 'hex') and suppressed`,
    [accountId, id, new Date(atMs)],
  );
  return rowCount === 1;
}
