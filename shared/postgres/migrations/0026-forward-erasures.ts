import { Migration } from '@mikro-orm/migrations';

/**
 * The deletions requested from destinations for an erased visitor, and the keys that sign certificates. `subject` has
 * the person's identifiers, sealed, until every destination is done.
 *
 * Audit entries of visitors had a plain SHA-256 of the visitor's id, which outlives an erasure and can be guessed. They
 * now have a keyed hash, whose key no service can read. A trigger computes the keyed hash, since control planes of the
 * previous version still write the plain hash during a rolling upgrade.
 */
export class ForwardErasures extends Migration {
  override up(): void {
    this.addSql('alter table erasure_records add column due_at timestamptz(3), add column subject text');
    this.addSql(`
      create table erasure_destinations (
        erasure_id uuid not null references erasure_records (id) on delete cascade,
        destination_id text not null,
        account_id uuid not null,
        type text not null,
        name text not null,
        state text not null,
        reason text,
        reference text,
        attempts integer not null default 0,
        next_attempt_at timestamptz(3),
        requested_at timestamptz(3),
        done_at timestamptz(3),
        confirmed_by text,
        primary key (erasure_id, destination_id)
      )`);
    this.addSql(`create index erasure_destinations_waiting on erasure_destinations (account_id, next_attempt_at)
      where next_attempt_at is not null`);
    this.addSql(`create index erasure_destinations_open on erasure_destinations (erasure_id)
      where next_attempt_at is not null or state in ('failed', 'manual')`);
    this.addSql(`
      create table account_keys (
        account_id uuid not null,
        kid text not null,
        public_key jsonb not null,
        private_key text not null,
        created_at timestamptz(3) not null,
        primary key (account_id, kid)
      )`);
    this.addSql(`
      do $make$ begin execute format($format$
        create function key_audited_visitor() returns trigger language plpgsql
        security definer set search_path = pg_catalog, pg_temp as $$ begin
          new.entity_id := encode(%1$I.erasure_hash_of(new.entity_id), 'hex');
          return new;
        end $$
      $format$, current_schema()); end $make$`);
    this.addSql(`
      create trigger key_audited_visitors before insert on audit_entries for each row
        when (new.action like 'visitor.%' and new.entity_id ~ '^[0-9a-f]{64}$') execute function key_audited_visitor()`);
    // After the trigger: it locks the table, so no entry is recorded in between.
    this.addSql(`update audit_entries set entity_id = encode(erasure_hash_of(entity_id), 'hex')
      where action like 'visitor.%' and entity_id ~ '^[0-9a-f]{64}$'`);
  }

  override down(): void {
    this.addSql('drop trigger key_audited_visitors on audit_entries');
    this.addSql('drop function key_audited_visitor');
    this.addSql('drop table account_keys');
    this.addSql('drop table erasure_destinations');
    this.addSql('alter table erasure_records drop column due_at, drop column subject');
  }
}
