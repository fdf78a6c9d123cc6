import type { Queryable } from './visitor-statements.ts';

/** Visitors who were shown a variant, and how many of them converted afterwards. */
export type VariantCount = { readonly variantId: string; readonly visitors: number; readonly conversions: number };

/**
 * Counts an experiment's visitors by their first variant. Merged visitors count as one, with their first exposure and
 * last conversion. If there is no metric, no visitor counts as converted.
 */
export async function countResults(
  db: Queryable,
  accountId: string,
  experimentId: string,
  metric: string | undefined,
): Promise<readonly VariantCount[]> {
  const { rows } = await db.query<{ variant_id: string; visitors: string; conversions: string }>({
    name: 'count-experiment-results',
    text: inAll,
    values: [accountId, experimentId, metric ?? null],
  });
  return rows.map((row) => ({
    variantId: row.variant_id,
    visitors: Number(row.visitors),
    conversions: Number(row.conversions),
  }));
}

/** Counts of one UTC day, by the day of a visitor's first exposure. */
export type DailyCount = VariantCount & { readonly day: string };

/** Counts an experiment's visitors by variant and day, oldest day first; days without visitors are left out. */
export async function countDailyResults(
  db: Queryable,
  accountId: string,
  experimentId: string,
  metric: string | undefined,
): Promise<readonly DailyCount[]> {
  const { rows } = await db.query<{ day: string; variant_id: string; visitors: string; conversions: string }>({
    name: 'count-daily-experiment-results',
    text: daily,
    values: [accountId, experimentId, metric ?? null],
  });
  return rows.map((row) => ({
    day: row.day,
    variantId: row.variant_id,
    visitors: Number(row.visitors),
    conversions: Number(row.conversions),
  }));
}

// Few visitors are ever merged, so only merged visitors are grouped; all others are counted row by row.
const people = `
  with recursive chains (visitor_id, at) as (
    select r.visitor_id, v.merged_into
    from visitors v
    join experiment_visitors r on r.account_id = v.account_id and r.visitor_id = v.id and r.experiment_id = $2
    where v.account_id = $1 and v.merged_into is not null
    union all
    select c.visitor_id, v.merged_into
    from chains c join visitors v on v.account_id = $1 and v.id = c.at where v.merged_into is not null
  ),
  aliases (visitor_id, person) as materialized (
    select c.visitor_id, c.at
    from chains c left join visitors v on v.account_id = $1 and v.id = c.at where v.merged_into is null
  ),
  merged (visitor_id, person) as materialized (
    select visitor_id, person from aliases union select person, person from aliases
  ),
  people as (
    select min(r.exposed_at) as exposed_at, max(r.converted_at) filter (where r.metric = $3) as converted_at,
      (array_agg(r.variant_id order by r.exposed_at, r.variant_id))[1] as variant_id
    from merged m
    join experiment_visitors r on r.account_id = $1 and r.experiment_id = $2 and r.visitor_id = m.visitor_id
    group by m.person
    union all
    select r.exposed_at, case when r.metric = $3 then r.converted_at end, r.variant_id
    from experiment_visitors r
    where r.account_id = $1 and r.experiment_id = $2 and r.visitor_id not in (select visitor_id from merged)
  )`;

const counts = 'count(*) as visitors, count(*) filter (where converted_at >= exposed_at) as conversions';

const inAll = `${people} select variant_id, ${counts} from people where exposed_at is not null group by variant_id`;

const daily = `${people}
  select to_char(exposed_at at time zone 'UTC', 'YYYY-MM-DD') as day, variant_id, ${counts}
  from people where exposed_at is not null
  group by day, variant_id order by day, variant_id`;
