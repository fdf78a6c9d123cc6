import { Migration } from '@mikro-orm/migrations';

/**
 * What erasures need, and what they left. `published_destinations` has each destination that a published version
 * enabled, because versions may be deleted and go live again. `disabled_at` is null while the live version enables the
 * destination. A trigger writes the table, since control planes of the previous version still publish during a rolling
 * upgrade.
 */
export class CompleteErasures extends Migration {
  override up(): void {
    // Records of undone merges had data of visitors that were erased after they were split.
    this.addSql(`
      update visitor_merges set loser_properties = '{}', loser_times = null, loser_identities = '[]',
        survivor_properties = '{}', survivor_times = null, merged_properties = '{}', merged_times = null
      where undone_at is not null`);
    // Identifiers were kept although no destination needed them.
    this.addSql(`
      update erasure_records r set due_at = null, subject = null
      where due_at is not null and not exists (select from erasure_destinations d where d.erasure_id = r.id)`);
    this.addSql(`
      update erasure_records r set subject = null
      where subject is not null and not exists (
        select from erasure_destinations d
        where d.erasure_id = r.id and (d.next_attempt_at is not null or d.state in ('failed', 'manual')))`);
    this.addSql(`
      create table published_destinations (
        account_id uuid not null references accounts (id) on delete cascade,
        destination_id text not null,
        type text not null,
        name text not null,
        disabled_at timestamptz,
        primary key (account_id, destination_id)
      )`);
    this.addSql(`
      do $make$ begin execute format($format$
        create function note_published_destinations() returns trigger language plpgsql
        security definer set search_path = pg_catalog, pg_temp as $$ begin
          update %1$I.published_destinations set disabled_at = clock_timestamp()
            where account_id = new.id and disabled_at is null;
          insert into %1$I.published_destinations (account_id, destination_id, type, name)
            select distinct on (d ->> 'id') new.id, d ->> 'id', d ->> 'type', coalesce(d ->> 'name', d ->> 'type')
            from %1$I.versions v cross join lateral ${destinations}
            where v.id = new.live_version_id and d ->> 'status' = 'Enabled'
            on conflict (account_id, destination_id)
              do update set type = excluded.type, name = excluded.name, disabled_at = null;
          return null;
        end $$
      $format$, current_schema()); end $make$`);
    this.addSql(`
      create trigger note_published_destinations after update of live_version_id on accounts for each row
        when (new.live_version_id is distinct from old.live_version_id) execute function note_published_destinations()`);
    // A version that is not live and whose end is unknown counts as live until now.
    this.addSql(`
      insert into published_destinations (account_id, destination_id, type, name, disabled_at)
      select distinct on (v.account_id, d ->> 'id') v.account_id, d ->> 'id', d ->> 'type',
        coalesce(d ->> 'name', d ->> 'type'),
        nullif(case when v.id = a.live_version_id then 'infinity' else coalesce(p.ended_at, now()) end, 'infinity')
          as disabled_at
      from accounts a
      join versions v on v.account_id = a.id
      left join (
        select version_id, max(coalesce(ended_at, now())) as ended_at from publications group by version_id
      ) p on p.version_id = v.id
      cross join lateral ${destinations}
      where d ->> 'status' = 'Enabled'
        and (v.id = a.live_version_id or v.published_at is not null or p.version_id is not null)
      order by v.account_id, d ->> 'id', disabled_at desc nulls first, v.version_number desc`);
  }

  override down(): void {
    this.addSql('drop trigger note_published_destinations on accounts');
    this.addSql('drop function note_published_destinations');
    this.addSql('drop table published_destinations');
  }
}

/** SQL: the destinations of the version `v`. */
const destinations = `jsonb_array_elements(
  case jsonb_typeof(v.content -> 'destinations') when 'array' then v.content -> 'destinations' else '[]' end) d`;
