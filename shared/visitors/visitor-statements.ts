import type { ClientBase, Pool } from 'pg';
import type { JsonObject } from '../runtime/json.ts';
import type { ClearedIdentity, ErasureMarks, IdentityRow, StoredVisitor, VisitorWrite } from './visitor-rows.ts';
import { selectCluster } from './alias-statements.ts';
import { signedInBit } from './server-set.ts';
import type { IdentityKind } from './visitor-identity.ts';
import { jsonLines, jsonbOfLines } from '../postgres/json-lines.ts';
import { VisitorProperties } from './visitor-properties.ts';

export type VisitorRowKey = { readonly accountId: string; readonly id: string };

/** A pool, or one connection inside a transaction. */
export type Queryable = Pick<Pool | ClientBase, 'query'>;

export type VisitorAsked = {
  readonly accountId: string;
  readonly id: string;
  /** The row that the caller already has: the stored row is read only if it differs or is deleted. */
  readonly known: KnownRow | undefined;
};

/**
 * A visitor that returns after an erasure starts at version 1 again: the creation time of its row distinguishes the
 * two.
 */
type KnownRow = Pick<StoredVisitor, 'version' | 'createdAtUs'>;

export type IdentityAsked = { readonly accountId: string; readonly kind: IdentityKind; readonly value: string };

type VisitorRecord = {
  account_id: string;
  id: string;
  version: number;
  properties: string | null;
  property_times: string | null;
  created_us: string;
  updated_us: string;
  merged_into: string | null;
  signed_in_as: string | null;
  set_by_server: number;
  apart: string[] | null;
  external_ids: number;
  emails: number;
  aliases: number;
};

/** Rows with properties of more compressed bytes are not read: eight times the default size limit. */
const storedBytesMax = 256 * 1024;

// The account is returned as it was given: a uuid has more than one spelling.
const visitorColumns = `k.account_id, v.id, v.version, v.merged_into, v.signed_in_as, v.set_by_server,
  v.apart::text[] as apart, v.external_ids, v.emails, v.aliases, v.property_times,
  case when pg_column_size(v.properties) <= ${storedBytesMax} then v.properties::text end as properties,
  (extract(epoch from v.created_at) * 1000000)::bigint as created_us,
  (extract(epoch from v.updated_at) * 1000000)::bigint as updated_us`;

/** `row` is undefined if the known row was deleted. */
export type VisitorFound = VisitorRowKey & { readonly row: StoredVisitor | undefined };

/**
 * Reads visitors that differ from the known rows. The lateral query keeps the planner from beginning with a table that
 * it believes to be empty.
 */
export async function selectVisitors(db: Queryable, asked: readonly VisitorAsked[]): Promise<VisitorFound[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<(VisitorRecord | { account_id: string; id: null }) & { asked_id: string }>({
    name: 'select-visitors',
    text: `select k.id as asked_id, ${visitorColumns}
      from unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) as k (account_id, id, version, created_us)
      left join lateral (
        select * from visitors v where v.account_id = k.account_id::uuid and v.id = k.id offset 0
      ) v on true
      where v.version is distinct from k.version
        or v.created_at is distinct from timestamptz 'epoch' + k.created_us * interval '1 microsecond'`,
    values: [
      asked.map((key) => key.accountId),
      asked.map((key) => key.id),
      asked.map((key) => key.known?.version ?? null),
      asked.map((key) => key.known?.createdAtUs ?? null),
    ],
  });
  return rows.map((row) => ({
    accountId: row.account_id,
    id: row.asked_id,
    row: row.id === null ? undefined : readVisitor(row),
  }));
}

export type IdentityFound = IdentityAsked & { readonly visitor: StoredVisitor };

export async function selectIdentities(db: Queryable, asked: readonly IdentityAsked[]): Promise<IdentityFound[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<VisitorRecord & { kind: IdentityKind; value: string }>({
    name: 'select-identities',
    text: `select k.kind, k.value, ${visitorColumns}
      from unnest($1::text[], $2::text[], $3::text[]) as k (account_id, kind, value)
      join lateral (
        select * from visitor_identities i
        where i.account_id = k.account_id::uuid and i.kind = k.kind and i.value = k.value
        offset 0
      ) i on true
      join lateral (select * from visitors v where v.account_id = i.account_id and v.id = i.visitor_id offset 0) v on true`,
    values: [asked.map((key) => key.accountId), asked.map((key) => key.kind), asked.map((key) => key.value)],
  });
  return rows.map((row) => ({
    accountId: row.account_id,
    kind: row.kind,
    value: row.value,
    visitor: readVisitor(row),
  }));
}

/** Changes of visitors since a snapshot. */
export type VisitorChangesFound = {
  /** The current snapshot of visible transactions in PostgreSQL. */
  readonly snapshot: string;
  /** Identifies the server and its start: another server may have lost changes of the previous one. */
  readonly server: string;
  readonly changes: readonly VisitorChange[];
  readonly erasures: ErasureMarks;
  /** Whether there are more changes than may be read at once. */
  readonly isCutShort: boolean;
};

/** A changed visitor, which now has at least this version. */
export type VisitorChange = { readonly accountId: string; readonly id: string; readonly version: number };

type ChangesRecord = {
  snapshot: string;
  server: string;
  newest_erasure_ms: string | null;
  has_suppressions: boolean;
  account_ids: string[] | null;
  ids: string[] | null;
  versions: number[] | null;
};

/**
 * Reads which visitors were changed by transactions committed since `snapshot`; without `snapshot` it reads no changes.
 * Also reads the current snapshot and the time of the last erasure. At most `statementsMax` statements are read: while
 * a transaction stays open for long, all transactions since its beginning are read again.
 */
export async function selectVisitorChanges(
  db: Queryable,
  snapshot: string | undefined,
  statementsMax: number,
): Promise<VisitorChangesFound> {
  const { rows } = await db.query<ChangesRecord>({
    name: 'select-visitor-changes',
    text: `select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server,
        (select (extract(epoch from max(erased_at)) * 1000)::bigint from erasures) as newest_erasure_ms,
        exists (select from erasures where suppressed) as has_suppressions,
        c.account_ids, c.ids, c.versions
      from (select 1) as one
      left join lateral (
        select xid,
          case when not pg_visible_in_snapshot(xid, $1::pg_snapshot) then account_ids::text[] end as account_ids,
          case when not pg_visible_in_snapshot(xid, $1::pg_snapshot) then ids end as ids,
          case when not pg_visible_in_snapshot(xid, $1::pg_snapshot) then versions end as versions
        from visitor_changes where xid >= pg_snapshot_xmin($1::pg_snapshot) order by xid limit $2
      ) c on true`,
    values: [snapshot ?? null, statementsMax + 1],
  });
  const [first] = rows;
  if (first === undefined) throw new Error('PostgreSQL did not return its snapshot of transactions');
  return {
    snapshot: first.snapshot,
    server: first.server,
    changes: rows.flatMap(readChanges),
    erasures: {
      newestAtMs: first.newest_erasure_ms === null ? -Infinity : Number(first.newest_erasure_ms),
      hasSuppressions: first.has_suppressions,
    },
    isCutShort: rows.length > statementsMax,
  };
}

/** A change of all visitors; stored as a row without ids. */
export const allVisitors: VisitorChange = { accountId: '', id: '', version: Number.MAX_SAFE_INTEGER };

function readChanges({ account_ids, ids, versions }: ChangesRecord): VisitorChange[] {
  if (account_ids === null) return [];
  if (account_ids.length === 0) return [allVisitors];
  return account_ids.map((accountId, at) => ({ accountId, id: ids?.[at] ?? '', version: versions?.[at] ?? 0 }));
}

/**
 * Deletes changes from before `snapshot`, which every reader has seen, and changes with transaction ids of the future,
 * which were restored from another server.
 */
export async function deleteVisitorChanges(db: Queryable, snapshot: string): Promise<void> {
  await db.query(
    `delete from visitor_changes
      where xid < pg_snapshot_xmin($1::pg_snapshot) or xid >= pg_snapshot_xmax(pg_current_snapshot())`,
    [snapshot],
  );
}

/** Locks visitors until the transaction ends, in the order of their ids, so that two transactions cannot deadlock. */
export async function lockVisitors(db: Queryable, ids: readonly VisitorRowKey[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `select 1 from visitors v
      join unnest($1::uuid[], $2::text[]) as k (account_id, id) on v.account_id = k.account_id and v.id = k.id
      order by v.account_id, v.id for update of v`,
    [ids.map((key) => key.accountId), ids.map((key) => key.id)],
  );
}

/**
 * Removes identities from visitors, and from at most `aliasesMax` visitors merged into them; returns the visitors that
 * had them. Merged visitors get a new version, so that every cache that contains them learns of it; those in `writes`
 * get theirs from `updateVisitors`.
 */
export async function deleteIdentities(
  db: Queryable,
  cleared: readonly ClearedIdentity[],
  writes: readonly VisitorRowKey[],
): Promise<readonly VisitorRowKey[]> {
  if (cleared.length === 0) return [];
  const { rows } = await db.query<{ account_id: string; visitor_id: string }>({
    name: 'delete-identities',
    text: `with deleted as (
        delete from visitor_identities i
        using unnest($1::text[], $2::text[], $3::text[]) as k (account_id, visitor_id, kind)
        cross join lateral (${selectCluster('k.account_id::uuid', 'k.visitor_id')}) c
        where i.account_id = k.account_id::uuid and i.visitor_id = c.id and i.kind = k.kind
        returning k.account_id, i.visitor_id
      ), updated as (
        update visitors v set version = v.version + 1
        from (select distinct account_id::uuid as account_id, visitor_id as id from deleted) d
        where v.account_id = d.account_id and v.id = d.id and v.merged_into is not null
          and (v.account_id, v.id) not in (select * from unnest($4::uuid[], $5::text[]))
      )
      select distinct account_id, visitor_id from deleted`,
    values: [
      cleared.map((key) => key.accountId),
      cleared.map((key) => key.visitorId),
      cleared.map((key) => key.kind),
      writes.map((write) => write.accountId),
      writes.map((write) => write.id),
    ],
  });
  return rows.map((row) => ({ accountId: row.account_id, id: row.visitor_id }));
}

/**
 * Inserts identities that have no owner; returns how many were inserted. Waits for transactions that insert the same
 * identities.
 */
export async function insertIdentities(db: Queryable, rows: readonly IdentityRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await db.query({
    name: 'insert-identities',
    text: `insert into visitor_identities (account_id, kind, value, visitor_id)
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as k (account_id, kind, value, visitor_id)
      order by 1, 2, 3
      on conflict do nothing`,
    values: [
      rows.map((row) => row.accountId),
      rows.map((row) => row.kind),
      rows.map((row) => row.value),
      rows.map((row) => row.visitorId),
    ],
  });
  return rowCount ?? 0;
}

/** The state of a row after a write. */
export type WrittenVisitor = Pick<StoredVisitor, 'accountId' | 'id' | 'createdAtUs' | 'updatedAtUs'>;

/** Inserts visitors whose ids are free; returns the inserted rows. */
export async function insertVisitors(db: Queryable, writes: readonly VisitorWrite[]): Promise<WrittenVisitor[]> {
  if (writes.length === 0) return [];
  const { rows } = await db.query<WrittenRecord>({
    name: 'insert-visitors',
    text: `insert into visitors as v (account_id, id, properties, merged_into, signed_in_as, set_by_server, apart, external_ids,
        emails, aliases, property_times)
      select k.account_id, k.id, k.properties, k.merged_into, k.signed_in_as, k.set_by_server, k.apart::uuid[],
        k.external_ids, k.emails, k.aliases, k.property_times
      from unnest($1::uuid[], $2::text[], ${jsonbOfLines('$3')}, $4::text[], $5::text[], $6::smallint[], $7::text[],
          $8::int[], $9::int[], $10::int[], $11::text[])
        as k (account_id, id, properties, merged_into, signed_in_as, set_by_server, apart, external_ids, emails, aliases,
          property_times)
      order by 1, 2
      on conflict do nothing
      returning ${writtenColumns}`,
    values: [
      writes.map((write) => write.accountId),
      writes.map((write) => write.id),
      jsonLines(writes.map((write) => write.properties.text)),
      writes.map((write) => write.mergedInto ?? null),
      writes.map((write) => write.signedInAs ?? null),
      writes.map((write) => write.setByServer),
      writes.map((write) => uuidArray(write.apart)),
      writes.map((write) => write.externalIds),
      writes.map((write) => write.emails),
      writes.map((write) => write.aliases),
      writes.map((write) => write.properties.timesText),
    ],
  });
  return rows.map(readWritten);
}

/** Updates visitors that still have the version that was read; returns the updated rows. */
export async function updateVisitors(db: Queryable, writes: readonly VisitorWrite[]): Promise<WrittenVisitor[]> {
  if (writes.length === 0) return [];
  const { rows } = await db.query<WrittenRecord>({
    name: 'update-visitors',
    // A plain update locks rows in the planner's order; locking first fixes the order.
    text: `with locked as materialized (
        select v.account_id, v.id, k.properties, k.merged_into, k.signed_in_as, k.set_by_server, k.apart, k.external_ids,
          k.emails, k.aliases, k.property_times
        from unnest($1::uuid[], $2::text[], $3::int[], ${jsonbOfLines('$4')}, $5::text[], $6::text[], $7::smallint[],
            $8::text[], $9::int[], $10::int[], $11::int[], $12::text[])
          as k (account_id, id, version, properties, merged_into, signed_in_as, set_by_server, apart, external_ids, emails,
            aliases, property_times)
        join visitors v on v.account_id = k.account_id and v.id = k.id and v.version = k.version
        order by v.account_id, v.id
        for update of v
      )
      update visitors v
      set properties = k.properties, merged_into = k.merged_into, signed_in_as = k.signed_in_as,
        set_by_server = k.set_by_server, apart = k.apart::uuid[], external_ids = k.external_ids, emails = k.emails,
        aliases = k.aliases, property_times = k.property_times, version = v.version + 1, updated_at = now()
      from locked k where v.account_id = k.account_id and v.id = k.id
      returning ${writtenColumns}`,
    values: [
      writes.map((write) => write.accountId),
      writes.map((write) => write.id),
      writes.map((write) => write.stored?.version ?? null),
      jsonLines(writes.map((write) => write.properties.text)),
      writes.map((write) => write.mergedInto ?? null),
      writes.map((write) => write.signedInAs ?? null),
      writes.map((write) => write.setByServer),
      writes.map((write) => uuidArray(write.apart)),
      writes.map((write) => write.externalIds),
      writes.map((write) => write.emails),
      writes.map((write) => write.aliases),
      writes.map((write) => write.properties.timesText),
    ],
  });
  return rows.map(readWritten);
}

/** The text of an array in PostgreSQL, which has no arrays of arrays of different lengths. */
export const uuidArray = (ids: readonly string[]): string | null => (ids.length === 0 ? null : `{${ids.join(',')}}`);

const devicesPerStatement = 1_000;

/**
 * Signs visitors out of devices, in statements of bounded size. Events of a device then belong to its own visitor
 * again.
 */
export async function signOut(db: Queryable, accountId: string, ids: readonly string[]): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `update visitors set signed_in_as = null, set_by_server = set_by_server & ~$3::smallint, version = version + 1
        where account_id = $1 and id in (
          select v.id from visitors v where v.account_id = $1 and v.signed_in_as = any($2::text[])
          order by v.id limit $4 for update
        )`,
      [accountId, ids, signedInBit, devicesPerStatement],
    );
    if ((rowCount ?? 0) < devicesPerStatement) return;
  }
}

type WrittenRecord = { account_id: string; id: string; created_us: string; updated_us: string };

const writtenColumns = `v.account_id, v.id,
  (extract(epoch from v.created_at) * 1000000)::bigint as created_us,
  (extract(epoch from v.updated_at) * 1000000)::bigint as updated_us`;

function readWritten(row: WrittenRecord): WrittenVisitor {
  return {
    accountId: row.account_id,
    id: row.id,
    createdAtUs: Number(row.created_us),
    updatedAtUs: Number(row.updated_us),
  };
}

function readVisitor(row: VisitorRecord): StoredVisitor {
  return {
    version: row.version,
    // PostgreSQL's text of the jsonb is not used: it writes 1e308 as 309 digits, and adds spaces.
    properties:
      row.properties === null
        ? VisitorProperties.none
        : new VisitorProperties(JSON.parse(row.properties) as JsonObject, undefined, row.property_times ?? undefined),
    mergedInto: row.merged_into ?? undefined,
    signedInAs: row.signed_in_as ?? undefined,
    setByServer: row.set_by_server,
    apart: row.apart ?? [],
    externalIds: row.external_ids,
    emails: row.emails,
    aliases: row.aliases,
    ...readWritten(row),
    ...(row.properties === null ? { isUnreadable: true } : {}),
  };
}
