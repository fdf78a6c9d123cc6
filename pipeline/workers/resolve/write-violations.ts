import type { Pool } from 'pg';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { jsonLines, jsonbOfLines } from '../../../shared/postgres/json-lines.ts';

/** Writes the counts of violations to PostgreSQL, and deletes old ones. */
export type ViolationStore = {
  /** Writes all of the counts or, if it fails, none. */
  write(counted: readonly CountedViolation[]): Promise<void>;
  /** Deletes counts that are no longer shown. */
  deleteOld(): Promise<void>;
};

/** A row of `violations`: violations of one rule, event, source and version of the app within an hour. */
export type ViolationRow = {
  readonly accountId: string;
  readonly hourAtMs: number;
  readonly rule: string;
  readonly event: string;
  readonly sourceId: string;
  readonly appVersion: string;
  readonly action: string;
  readonly severity: string;
  readonly firstAtMs: number;
  /** The shape of a value that broke the rule; never the value itself. */
  readonly sample: string;
};

export type CountedViolation = ViolationRow & { readonly count: number; readonly lastAtMs: number };

/** Maximum number of an account's groups per hour; violations of further ones are counted together, by their rule. */
export const groupsPerHourMax = 2_000;
/** The console shows seven days; one more day is kept as a margin. */
const keptHours = 8 * 24;
const deletedAtOnceMax = 5_000;

export function createViolationStore(pool: Pool): ViolationStore {
  return { write: (counted) => writeViolations(pool, counted), deleteOld: () => deleteOldViolations(pool) };
}

/**
 * Adds counts to the table. The rows of one account and hour stay within the limit, except for rows that two writers
 * add at the same moment.
 */
async function writeViolations(pool: Pool, counted: readonly CountedViolation[]): Promise<void> {
  await inTransaction(
    pool,
    (client) => client.query({ name: 'write-violations', text: statement, values: [jsonLines(counted.map(jsonOf))] }),
    { isFlushed: false },
  );
}

async function deleteOldViolations(pool: Pool): Promise<void> {
  await pool.query(
    `delete from violations where (account_id, hour, rule, event, source_id, app_version) in (
       select account_id, hour, rule, event, source_id, app_version from violations
       where hour < now() - make_interval(hours => $1) order by hour limit $2 for update skip locked)`,
    [keptHours, deletedAtOnceMax],
  );
}

function jsonOf({ hourAtMs, firstAtMs, lastAtMs, ...row }: CountedViolation): string {
  const [hour, firstAt, lastAt] = [hourAtMs, firstAtMs, lastAtMs].map((ms) => new Date(ms).toISOString());
  return JSON.stringify({ ...row, hour, firstAt, lastAt });
}

// A group that exists is always counted; new groups beyond the limit are counted as one for each rule. Rows are written
// in the order of the key, so that two writers never deadlock.
const statement = `
  with given as (
    select (j->>'accountId')::uuid as account_id, (j->>'hour')::timestamptz as hour, j->>'rule' as rule, j->>'event' as event,
      j->>'sourceId' as source_id, j->>'appVersion' as app_version, j->>'action' as action, j->>'severity' as severity,
      (j->>'count')::bigint as count, (j->>'firstAt')::timestamptz as first_at, (j->>'lastAt')::timestamptz as last_at,
      j->>'sample' as sample
    from unnest(${jsonbOfLines('$1')}) as j
  ), held as (
    select o.account_id, o.hour, count(v.rule) as groups
    from (select distinct account_id, hour from given) o
    left join violations v on v.account_id = o.account_id and v.hour = o.hour
    group by o.account_id, o.hour
  ), ranked as (
    select g.*, v.rule is null as is_new, held.groups +
      count(*) filter (where v.rule is null) over (partition by g.account_id, g.hour order by g.rule, g.event, g.source_id, g.app_version) as place
    from given g join held using (account_id, hour)
    left join violations v using (account_id, hour, rule, event, source_id, app_version)
  ), bounded as (
    select account_id, hour, rule, case when is_over then '_other' else event end as event,
      case when is_over then '' else source_id end as source_id, case when is_over then '' else app_version end as app_version,
      action, severity, count, first_at, last_at, case when is_over then '' else sample end as sample
    from (select *, is_new and place > ${groupsPerHourMax} as is_over from ranked) r
  )
  insert into violations as v
    (account_id, hour, rule, event, source_id, app_version, action, severity, count, first_at, last_at, sample)
  select account_id, hour, rule, event, source_id, app_version, max(action), max(severity), sum(count), min(first_at),
    max(last_at), max(sample)
  from bounded group by account_id, hour, rule, event, source_id, app_version
  order by account_id, hour, rule, event, source_id, app_version
  on conflict (account_id, hour, rule, event, source_id, app_version) do update
  set count = v.count + excluded.count, first_at = least(v.first_at, excluded.first_at),
    last_at = greatest(v.last_at, excluded.last_at), action = excluded.action, severity = excluded.severity`;
