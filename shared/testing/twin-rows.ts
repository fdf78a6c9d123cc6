import { Client } from 'pg';
import type { Pool } from 'pg';

/**
 * A text in every row of a twin that can contain text. If it shows anywhere else, one account has read another's rows.
 */
export const twinMark = 'row-of-the-twin-account';

/** First characters of the id of a twin account. */
const twinPrefix = '0000dead';

/**
 * Gives every account of a test's database a twin: triggers repeat each insert and update in a table with an
 * `account_id` under the twin's account id, with `twinMark` in the texts. So every statement of every test meets
 * another account with the same ids, and a missing filter by account shows:
 *
 * - a statement that changes rows of an account and of its twin fails;
 * - a statement that changes only rows of twins fails, since no test acts for a twin, except in two tables of recent
 *   events;
 * - a statement that copies `twinMark` from a twin into a row of another account fails.
 *
 * Tables get their triggers when migrations create or alter them. Tables that refer to `accounts` have no twins,
 * because their rows are reached through the API, whose access tests have accounts with the same content. Jobs for all
 * accounts find nothing to do in a twin's rows, except in the rows that `dueRows` names, which they may change.
 */
export async function installTwins(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(twinFunctions);
  } finally {
    await client.end();
  }
}

/**
 * Runs a statement without creating twins for its rows: for inserts so large that the triggers would take as long as
 * the test itself.
 */
export async function withoutTwins(pool: Pool, sql: string, values: readonly unknown[]): Promise<void> {
  const session = await pool.connect();
  try {
    await session.query('begin');
    await session.query('set local session_replication_role = replica');
    await session.query(sql, [...values]);
    await session.query('commit');
  } finally {
    session.release();
  }
}

/** An SQL condition that excludes rows of twins, for tests that search a whole table. */
export const notOfTwin = (alias: string): string => `${alias}::text not like '%${twinPrefix}-%'`;

/** The id of an account's twin, for tests of the twins themselves. */
export const twinOf = (accountId: string): string => `${twinPrefix}${accountId.slice(twinPrefix.length)}`;

/** SQL conditions by table, for rows that a job for all accounts changes or deletes once they are old. */
const dueRows = {
  violations: "hour < now() - interval '8 days'",
  identity_counts: "hour < now() - interval '8 days'",
  erasure_records: 'due_at < now()',
};

const dueRow = Object.entries(dueRows)
  .map(([table, condition]) => `when '${table}' then $$${condition}$$`)
  .join(' ');

const twinFunctions = `
  create schema twin;
  grant usage on schema twin to public;

  create function twin.is_one(id uuid) returns boolean language sql immutable as $$
    select id >= '${twinPrefix}-0000-0000-0000-000000000000' and id <= '${twinPrefix}-ffff-ffff-ffff-ffffffffffff'
  $$;

  create function twin.of(id uuid) returns uuid language sql immutable as $$
    select ('${twinPrefix}' || substr(id::text, 9))::uuid
  $$;

  -- A value of the twin: what is text bears the mark.
  create function twin.marked(given jsonb) returns jsonb language sql immutable as $$
    select case when jsonb_typeof(given) = 'object' then given || '{"twin": "${twinMark}"}' else given end
  $$;

  create function twin.refuse_mark(texts text) returns void language plpgsql immutable as $$
  begin
    if strpos(texts, '${twinMark}') > 0 then
      raise exception 'twin: a row takes over what another account has: %', texts;
    end if;
  end $$;

  -- Of a statement's rows: fails where the twin's are among them. Its argument is a condition of rows that are due.
  create function twin.guard() returns trigger language plpgsql security definer as $$
  declare
    twins bigint;
    others bigint;
  begin
    -- What a trigger changes is the mirroring itself, or what a foreign key removes.
    if pg_trigger_depth() > 1 then return null; end if;
    execute format('select count(*) filter (where twin.is_one(account_id)), count(*) filter (where not twin.is_one(account_id))
      from changed where (%s) is not true', tg_argv[0]) into twins, others;
    if twins > 0 and (others > 0 or tg_table_name not in ('recent_events', 'event_outcomes')) then
      raise exception 'twin: a statement changes rows of another account in %', tg_table_name;
    end if;
    return null;
  end $$;

  create function twin.install(tbl regclass) returns void language plpgsql as $install$
  declare
    keys text[];
    cols record;
    name text := (select relname from pg_class where oid = tbl);
    target text := format('public.%I', name);
    due text := case name ${dueRow} else 'false' end;
  begin
    if not exists (select from pg_attribute where attrelid = tbl and attname = 'account_id' and not attisdropped)
      or exists (select from pg_constraint where conrelid = tbl and contype = 'f' and confrelid = to_regclass('public.accounts'))
    then return; end if;
    select array_agg(a.attname::text) into keys from pg_index i
      join pg_attribute a on a.attrelid = tbl and a.attnum = any (i.indkey) where i.indrelid = tbl and i.indisprimary;
    if keys is null then return; end if;
    with all_of as (
      select quote_ident(attname) as col, format('new.%I', attname) as now, attnum, attname = any (keys) as is_key,
        case
          when attname = 'account_id' then 'twin.of(new.account_id)'
          when attname = any (keys) and atttypid = 'uuid'::regtype and 'account_id' <> all (keys)
            then format('twin.of(new.%I)', attname)
          when attname = any (keys) then format('new.%I', attname)
          -- Nothing is left to do for a twin: destinations would be asked with its rows, and its notices be hashed.
          when name = 'erasure_destinations' and attname = 'state' then $$'done'$$
          when name = 'erasure_destinations' and attname = 'next_attempt_at' then 'null'
          when name = 'erasure_notices' and attname = 'key_id' then $$case new.key_id when '' then '${twinMark}' else new.key_id end$$
          -- What is sealed begins with the mark: it is opened by no key, and counts as sealed with none.
          when attname in ('sealed', 'private_key', 'subject') then format($$'${twinMark}' || new.%I$$, attname)
          when atttypid = 'jsonb'::regtype then format('twin.marked(new.%I)', attname)
          when attname in ('reason', 'reference', 'actor_name', 'undone_by', 'variant_id', 'sample', 'confirmed_by')
            then format($$new.%I || '${twinMark}'$$, attname)
          else format('new.%I', attname) end as of_twin,
        atttypid in ('jsonb'::regtype, 'text'::regtype) as has_text
      from pg_attribute where attrelid = tbl and attnum > 0 and not attisdropped and attidentity = ''
    )
    select string_agg(col, ', ') as names, string_agg(of_twin, ', ') as twins,
        string_agg(format('%s = %s', col, of_twin), ', ') filter (where not is_key) as changes,
        string_agg(format('%s = %s', col, of_twin), ' and ') filter (where is_key) as is_twin,
        coalesce(string_agg(now, ', ') filter (where has_text), $$''$$) as texts
      into cols from all_of;
    execute format($fn$
      create or replace function twin.%I() returns trigger language plpgsql security definer as $$
      begin
        if twin.is_one(new.account_id) then return new; end if;
        perform twin.refuse_mark(concat(%s));
        insert into %s (%s) select %s where %s on conflict do nothing;
        return new;
      end $$ $fn$,
      'add_to_' || name, cols.texts, target, cols.names, cols.twins,
      case when name = 'event_outcomes' then
        'exists (select from public.recent_events e where e.account_id = twin.of(new.account_id) and e.id = new.event_id and e.origin = new.origin)'
        else 'true' end);
    execute format($fn$
      create or replace function twin.%I() returns trigger language plpgsql security definer as $$
      begin
        if twin.is_one(new.account_id) then return null; end if;
        perform twin.refuse_mark(concat(%s));
        if pg_trigger_depth() = 1 then update %s set %s where %s; end if;
        return null;
      end $$ $fn$,
      'update_of_' || name, cols.texts, target, coalesce(cols.changes, 'account_id = account_id'), cols.is_twin);
    if exists (select from pg_trigger where tgrelid = tbl and tgname = 'twin_add') then return; end if;
    execute format('create trigger twin_add before insert on %s for each row execute function twin.%I()', target, 'add_to_' || name);
    execute format('create trigger twin_update after update on %s for each row execute function twin.%I()', target, 'update_of_' || name);
    execute format('create trigger twin_guard_updates after update on %s referencing old table as changed
      for each statement execute function twin.guard(%L)', target, due);
    execute format('create trigger twin_guard_deletes after delete on %s referencing old table as changed
      for each statement execute function twin.guard(%L)', target, due);
  end $install$;

  create function twin.follow() returns event_trigger language plpgsql security definer as $$
  declare
    made record;
  begin
    for made in select distinct objid from pg_event_trigger_ddl_commands()
      where object_type = 'table' and schema_name = 'public' and objid <> 0
    loop
      perform twin.install(made.objid::regclass);
    end loop;
  end $$;
  create event trigger twin_tables on ddl_command_end when tag in ('CREATE TABLE', 'ALTER TABLE')
    execute function twin.follow();
`;
