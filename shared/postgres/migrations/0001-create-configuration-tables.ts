import { Migration } from '@mikro-orm/migrations';

/**
 * Accounts with their keys, the draft (entities), its versions, source keys, the outbox to the CONFIG bucket and the
 * audit trail. Times have milliseconds, like JavaScript's, so that a time is read as it was written.
 */
export class CreateConfigurationTables extends Migration {
  // Large: the tables of the first release.
  override up(): void {
    this.addSql(`
      create table accounts (
        id uuid primary key,
        name text not null,
        live_version_id uuid,
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql(`
      create table api_keys (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        kid text not null unique,
        name text not null,
        secret_hash text not null,
        scopes text[] not null,
        created_at timestamptz(3) not null default now(),
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        last_used_at timestamptz(3)
      )`);
    this.addSql('create index api_keys_newest on api_keys (account_id, created_at desc, id desc)');
    this.addSql(`
      create table entities (
        account_id uuid not null references accounts (id) on delete cascade,
        collection text not null,
        id text not null,
        body jsonb not null,
        name_folded text not null default '',
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3),
        primary key (account_id, collection, id)
      )`);
    this.addSql('create index entities_newest on entities (account_id, collection, created_at desc, id desc)');
    this.addSql(`
      create table versions (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        version_number integer not null,
        name text not null,
        name_folded text not null,
        notes text,
        notes_folded text not null default '',
        content jsonb not null,
        created_at timestamptz(3) not null default now(),
        published_at timestamptz(3),
        published_by_user_id text,
        published_by_user_name text,
        unique (account_id, version_number)
      )`);
    this.addSql(`
      alter table accounts add constraint accounts_live_version
        foreign key (live_version_id) references versions (id)`);
    this.addSql(`
      create table source_keys (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        source_id text not null,
        test boolean not null,
        key_hash text not null unique,
        sealed_key text not null,
        created_at timestamptz(3) not null default now(),
        revoked_at timestamptz(3)
      )`);
    this.addSql('create index source_keys_of_account on source_keys (account_id, source_id)');
    this.addSql('create unique index source_keys_current on source_keys (source_id, test) where revoked_at is null');
    this.addSql(`
      create table outbox (
        id bigserial primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        created_at timestamptz(3) not null default now(),
        pushed_at timestamptz(3),
        revision bigint
      )`);
    this.addSql('create index outbox_waiting on outbox (id) where pushed_at is null');
    this.addSql(`
      create table audit_entries (
        id bigserial primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        at timestamptz(3) not null default now(),
        actor_id text not null,
        actor_name text not null,
        action text not null,
        collection text,
        entity_id text,
        details jsonb not null default '{}'
      )`);
    this.addSql('create index audit_entries_newest on audit_entries (account_id, id desc)');
  }

  override down(): void {
    this.addSql('alter table accounts drop constraint accounts_live_version');
    for (const table of ['audit_entries', 'outbox', 'source_keys', 'versions', 'entities', 'api_keys', 'accounts']) {
      this.addSql(`drop table ${table}`);
    }
  }
}
