import { Migration } from '@mikro-orm/migrations';

/**
 * A record of each erasure, which does not identify the visitor. Suppressions also have the kind of their identifier,
 * their start, their reason and their erasure. Control planes of the previous version write rows without these columns:
 * such suppressions apply since `erased_at`.
 */
export class RecordErasures extends Migration {
  override up(): void {
    this.addSql(`
      alter table erasures
        add column kind text,
        add column suppressed_at timestamptz(3),
        add column erasure_id uuid,
        add column reference text`);
    this.addSql(`
      create table erasure_records (
        id uuid primary key,
        account_id uuid not null,
        requested_at timestamptz(3) not null,
        erased_at timestamptz(3) not null,
        actor_id uuid not null,
        actor_name text not null,
        reference text,
        suppressed boolean not null,
        counts jsonb not null
      )`);
    this.addSql('create index erasure_records_of_account on erasure_records (account_id, requested_at, id)');
  }

  override down(): void {
    this.addSql('drop table erasure_records');
    this.addSql(`
      alter table erasures
        drop column kind,
        drop column suppressed_at,
        drop column erasure_id,
        drop column reference`);
  }
}
