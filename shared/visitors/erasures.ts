import type { Erasure, ErasureMarks } from './visitor-rows.ts';
import type { Identifier } from './visitor-identity.ts';
import type { Queryable } from './visitor-statements.ts';

/** Erasure marks by account. Accounts without erasures may be missing. */
export type ErasuresByAccount = ReadonlyMap<string, ErasureMarks>;

/** The same marks for all accounts. */
export function marksOfAll(accountIds: ReadonlySet<string>, marks: ErasureMarks): ErasuresByAccount {
  return new Map([...accountIds].map((accountId) => [accountId, marks]));
}

export async function selectAccountErasures(
  db: Queryable,
  accountIds: ReadonlySet<string>,
): Promise<ErasuresByAccount> {
  const { rows } = await db.query<{ account_id: string; newest_ms: string; has_suppressions: boolean }>({
    name: 'select-account-erasures',
    text: `select k.account_id, (extract(epoch from e.erased_at) * 1000)::bigint as newest_ms,
        exists (select from erasures s where s.account_id = k.account_id::uuid and s.suppressed) as has_suppressions
      from unnest($1::text[]) as k (account_id)
      join lateral (
        select erased_at from erasures e where e.account_id = k.account_id::uuid order by erased_at desc limit 1
      ) e on true`,
    values: [[...accountIds]],
  });
  return new Map(
    rows.map((row) => [row.account_id, { newestAtMs: Number(row.newest_ms), hasSuppressions: row.has_suppressions }]),
  );
}

export type IdentifierAsked = Identifier & { readonly accountId: string };

export type ErasureFound = { readonly identifier: IdentifierAsked; readonly erasure: Erasure };

/** Reads the last erasure of each identifier that has one. */
export async function selectErasures(
  db: Queryable,
  asked: readonly IdentifierAsked[],
): Promise<readonly ErasureFound[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<{ place: number; erased_ms: string; suppressed: boolean }>({
    name: 'select-erasures',
    // `offset 0` keeps the planner from beginning with a table that it believes to be empty.
    text: `select k.place::int as place, (extract(epoch from e.erased_at) * 1000)::bigint as erased_ms, e.suppressed
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as k (account_id, kind, value, place)
      join lateral (
        select erased_at, suppressed from erasures e
        where e.account_id = k.account_id::uuid and e.hash = erasure_hash(k.account_id::uuid, k.kind, k.value)
        offset 0
      ) e on true`,
    values: [asked.map((key) => key.accountId), asked.map((key) => key.kind), asked.map((key) => key.value)],
  });
  return rows.flatMap((row) => {
    const identifier = asked[row.place - 1];
    const erasure = { atMs: Number(row.erased_ms), isSuppressed: row.suppressed };
    return identifier === undefined ? [] : [{ identifier, erasure }];
  });
}

export type NewErasure = {
  readonly accountId: string;
  readonly atMs: number;
  /** Set if later events with one of the identifiers are dropped as well. */
  readonly suppression: NewSuppression | undefined;
};

export type NewSuppression = {
  readonly sinceMs: number;
  /** The erasure that requested it; undefined for identifiers without a visitor. */
  readonly erasureId: string | undefined;
  readonly reference: string | undefined;
};

/** Records the erasure of identifiers. An existing suppression stays as it is. */
export async function insertErasures(
  db: Queryable,
  { accountId, atMs, suppression }: NewErasure,
  identifiers: readonly Identifier[],
): Promise<void> {
  await db.query(
    `insert into erasures (account_id, hash, kind, erased_at, suppressed, suppressed_at, erasure_id, reference)
      select distinct $1::uuid, erasure_hash($1::uuid, k.kind, k.value), k.kind, $4::timestamptz,
        $5::timestamptz is not null, $5::timestamptz, $6::uuid, $7::text
      from unnest($2::text[], $3::text[]) as k (kind, value)
      order by 2
      on conflict (account_id, hash) do update set
        kind = excluded.kind,
        erased_at = greatest(erasures.erased_at, excluded.erased_at),
        suppressed = erasures.suppressed or excluded.suppressed,
        suppressed_at = case when erasures.suppressed then erasures.suppressed_at else excluded.suppressed_at end,
        erasure_id = case when erasures.suppressed then erasures.erasure_id else excluded.erasure_id end,
        reference = case when erasures.suppressed then erasures.reference else excluded.reference end`,
    [
      accountId,
      identifiers.map(({ kind }) => kind),
      identifiers.map(({ value }) => value),
      new Date(atMs).toISOString(),
      suppression === undefined ? null : new Date(suppression.sinceMs).toISOString(),
      suppression?.erasureId,
      suppression?.reference,
    ],
  );
}

/** Changes the time of an account's erasures from `fromMs` to `toMs`. */
export async function moveErasures(db: Queryable, accountId: string, fromMs: number, toMs: number): Promise<void> {
  await db.query('update erasures set erased_at = $3 where account_id = $1 and erased_at = $2', [
    accountId,
    new Date(fromMs).toISOString(),
    new Date(toMs).toISOString(),
  ]);
}

/** Deletes a batch of the erasures that are older than `beforeMs`, except suppressions. */
export async function deleteOldErasures(db: Queryable, accountId: string, beforeMs: number): Promise<void> {
  await db.query(
    `delete from erasures where account_id = $1 and hash in (
      select hash from erasures where account_id = $1 and erased_at < $2 and not suppressed
      order by erased_at limit ${oldAtOnce})`,
    [accountId, new Date(beforeMs).toISOString()],
  );
}

const oldAtOnce = 1_000;

/** How long erasures are kept, in ms; after this time no event of an erased visitor can be waiting anywhere. */
export const erasuresKeptMs = 400 * 86_400_000;

/**
 * SQL: whether a visitor was erased after its event was received. Costs one index lookup if no visitor of the account
 * was erased since. Each subquery is a `select … limit 1`, because the planner may turn `exists` into a join with all
 * erasures of the account. The time is compared in the result: as a condition it would let the planner read all newer
 * erasures of the account by their index.
 */
export function isErasedSql(accountId: string, visitorId: string, receivedAt: string): string {
  const isErased = erasureOf(accountId, 'visitor', visitorId, `e.erased_at >= ${receivedAt}`);
  return compared(accountId, `newest.erased_at >= ${receivedAt}`, isErased);
}

/**
 * SQL: whether the visitor with an id or externalId is suppressed, or was erased after this transaction began.
 */
export function isErasedNowSql(accountId: string, id: string): string {
  const isErased = (kind: Identifier['kind']): string =>
    erasureOf(accountId, kind, id, '(e.suppressed or e.erased_at >= now())');
  return compared(accountId, 'true', `${isErased('visitor')} or ${isErased('external_id')}`);
}

function compared(accountId: string, isAny: string, isErased: string): string {
  return `(case when (
      select ${isAny} from erasures newest where newest.account_id = ${accountId}
      order by newest.erased_at desc limit 1
    ) then ${isErased} else false end)`;
}

function erasureOf(accountId: string, kind: Identifier['kind'], value: string, isSo: string): string {
  return `coalesce((
      select ${isSo} from erasures e
      where e.account_id = ${accountId} and e.hash = erasure_hash(${accountId}, '${kind}', ${value})
      limit 1
    ), false)`;
}
