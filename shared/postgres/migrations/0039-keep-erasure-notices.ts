import { Migration } from '@mikro-orm/migrations';

/** The notices of erasures, in a database whose migration 0015 did not create them yet. */
export class KeepErasureNotices extends Migration {
  override up(): void {
    this.addSql(`
      create table if not exists erasure_notices (
        id uuid not null,
        part int not null,
        account_id uuid not null,
        key_id text not null,
        erased_at timestamptz(3) not null,
        visitors text[] not null,
        primary key (id, part)
      )`);
    this.addSql('create index if not exists erasure_notices_of_account on erasure_notices (account_id, erased_at)');
  }

  override down(): void {
    // Migration 0015 drops them.
  }
}
