import { uuidv7 } from 'uuidv7';
import { selectCluster } from './alias-statements.ts';
import type { MergeCause, VisitorMerge } from './visitor-rows.ts';
import type { Queryable } from './visitor-statements.ts';
import { uuidArray } from './visitor-statements.ts';

/** Maximum number of records of merges into one visitor, including undone ones; the next record removes the oldest. */
export const recordsMax = 100;
/** Maximum number of identities in a record. */
const identitiesMax = 1_000;

/**
 * Records merges before the rows are written: PostgreSQL copies the rows, so that a split restores them byte for byte.
 * If a row has changed since it was read, the write fails and the record is rolled back with it. Returns the ids of the
 * records.
 */
export async function insertMerges(db: Queryable, merges: readonly VisitorMerge[]): Promise<readonly string[]> {
  const rows = merges.flatMap(({ accountId, from, into, record }) =>
    record === undefined ? [] : [{ accountId, from, into, record }],
  );
  if (rows.length === 0) return [];
  const accountIds = rows.map(({ accountId }) => accountId);
  const survivors = rows.map(({ into }) => into);
  const ids = rows.map(() => uuidv7());
  await db.query({
    name: 'insert-merges',
    text: insertStatement,
    values: [
      accountIds,
      ids,
      survivors,
      rows.map(({ from }) => from),
      rows.map(({ record }) => JSON.stringify(record.cause)),
      rows.map(({ record }) => record.loser.properties?.text ?? null),
      rows.map(({ record }) => record.loser.setByServer),
      rows.map(({ record }) => JSON.stringify(record.loserIdentities)),
      rows.map(({ record }) => record.survivor.properties?.text ?? null),
      rows.map(({ record }) => record.survivor.setByServer),
      rows.map(({ record }) => uuidArray(record.survivor.apart)),
      rows.map(({ record }) => record.mergedProperties.text),
      rows.map(({ record }) => record.loser.properties?.timesText ?? null),
      rows.map(({ record }) => record.survivor.properties?.timesText ?? null),
      rows.map(({ record }) => record.mergedProperties.timesText),
    ],
  });
  await db.query({ name: 'trim-merges', text: trimStatement, values: [accountIds, survivors] });
  return ids;
}

const insertStatement = `
  insert into visitor_merges (account_id, id, survivor, loser, cause,
    loser_properties, loser_updated_at, loser_set_by_server, loser_identities,
    survivor_properties, survivor_updated_at, survivor_set_by_server, survivor_apart, merged_properties,
    loser_times, survivor_times, merged_times)
  select k.account_id, k.id, k.survivor, k.loser, k.cause::jsonb,
    coalesce(k.loser_properties::jsonb, l.properties), case when k.loser_properties is null then l.updated_at else now() end,
    k.loser_bits, i.identities || k.loser_identities::jsonb,
    coalesce(k.survivor_properties::jsonb, s.properties),
    case when k.survivor_properties is null then s.updated_at else now() end, k.survivor_bits, k.survivor_apart::uuid[],
    k.merged_properties::jsonb,
    case when k.loser_properties is null then l.property_times else k.loser_times end,
    case when k.survivor_properties is null then s.property_times else k.survivor_times end, k.merged_times
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::text[],
      $10::smallint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
    with ordinality as k (account_id, id, survivor, loser, cause, loser_properties, loser_bits, loser_identities,
      survivor_properties, survivor_bits, survivor_apart, merged_properties, loser_times, survivor_times, merged_times,
      place)
  left join lateral (
    select properties, property_times, updated_at from visitors v where v.account_id = k.account_id and v.id = k.loser offset 0
  ) l on true
  left join lateral (
    select properties, property_times, updated_at from visitors v where v.account_id = k.account_id and v.id = k.survivor offset 0
  ) s on true
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('kind', o.kind, 'value', o.value)), '[]') as identities
    from (
      select i.kind, i.value
      from (${selectCluster('k.account_id', 'k.loser')}) c
      cross join lateral (
        select kind, value from visitor_identities i where i.account_id = k.account_id and i.visitor_id = c.id offset 0
      ) i
      limit ${identitiesMax}
    ) o
  ) i
  order by k.place`;

const trimStatement = `
  delete from visitor_merges m
  using (select distinct * from unnest($1::uuid[], $2::text[]) as k (account_id, survivor)) k
  cross join lateral (
    select o.id from visitor_merges o
    where o.account_id = k.account_id and o.survivor = k.survivor
    order by o.number desc offset ${recordsMax}
  ) o
  where m.account_id = k.account_id and m.id = o.id`;

/** Deletes the records of all merges of these visitors. */
export async function deleteMerges(db: Queryable, accountId: string, ids: readonly string[]): Promise<void> {
  await db.query(
    'delete from visitor_merges where account_id = $1 and (survivor = any($2::text[]) or loser = any($2::text[]))',
    [accountId, ids],
  );
}

export type RecordedMerge = {
  readonly id: string;
  /** Orders the records. */
  readonly number: string;
  readonly at: Date;
  readonly survivor: string;
  readonly loser: string;
  readonly cause: MergeCause;
  readonly loser_properties: Readonly<Record<string, unknown>>;
  /** Names of properties of the survivor that the merge changed. */
  readonly overwritten: readonly string[];
  readonly undone_at: Date | null;
  readonly undone_by: string | null;
};

/** Lists the merges of these visitors that have a `number` below `before`, newest first. */
export async function listMerges(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<readonly RecordedMerge[]> {
  const { rows } = await db.query<RecordedMerge>(
    `select id, number, at, survivor, loser, cause, loser_properties, undone_at, undone_by,
        array(
          select p.key from jsonb_each(survivor_properties) p
          where p.value is distinct from merged_properties -> p.key order by p.key
        ) as overwritten
      from visitor_merges
      where account_id = $1 and (survivor = any($2::text[]) or loser = any($2::text[]))
        and ($3::bigint is null or number < $3::bigint)
      order by number desc limit $4`,
    [accountId, ids, before ?? null, limit],
  );
  return rows;
}
