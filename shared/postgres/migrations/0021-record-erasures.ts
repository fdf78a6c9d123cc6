import { Migration } from '@mikro-orm/migrations';

/**
 * Records each erasure without naming its visitor, and says of each suppression what kind of identifier it is of and since
 * when, for which reason and by which erasure it holds. Control planes of the version before write rows without these: they
 * count as suppressed since `erased_at`.
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
