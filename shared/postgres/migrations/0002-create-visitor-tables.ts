import { Migration } from '@mikro-orm/migrations';

/**
 * Visitors and their identities. The pipeline writes them in batches, without an ORM. Accounts are not referenced: the
 * event path must not wait for a lock of the configuration tables.
 */
export class CreateVisitorTables extends Migration {
  override up(): void {
    this.addSql(`
      create table visitors (
        account_id uuid not null,
        id text not null,
        properties jsonb not null default '{}',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        merged_into text,
        erased_at timestamptz,
        primary key (account_id, id)
      )`);
    this.addSql(`
      create table visitor_identities (
        account_id uuid not null,
        kind text not null check (kind in ('external_id', 'email')),
        value text not null,
        visitor_id text not null,
        created_at timestamptz not null default now(),
        primary key (account_id, kind, value)
      )`);
    this.addSql('create index visitor_identities_of_visitor on visitor_identities (account_id, visitor_id)');
  }

  override down(): void {
    this.addSql('drop table visitor_identities');
    this.addSql('drop table visitors');
  }
}
