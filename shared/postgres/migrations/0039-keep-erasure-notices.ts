import { Migration } from '@mikro-orm/migrations';

/** The notices of erasures that were announced in the log, for a log that is restored from an older copy. */
export class KeepErasureNotices extends Migration {
  override up(): void {
    this.addSql(`
      create table erasure_notices (
        id uuid not null,
        part int not null,
        account_id uuid not null,
        key_id text not null,
        erased_at timestamptz(3) not null,
        visitors text[] not null,
        primary key (id, part)
      )`);
    this.addSql('create index erasure_notices_of_account on erasure_notices (account_id, erased_at)');
  }

  override down(): void {
    this.addSql('drop table erasure_notices');
  }
}
