import { Migration } from '@mikro-orm/migrations';

/** Named filters of the console's event list. */
export class SaveViews extends Migration {
  override up(): void {
    this.addSql(`
      create table saved_views (
        account_id uuid not null references accounts (id) on delete cascade,
        name text not null,
        query text not null,
        saved_at timestamptz(3) not null default now(),
        primary key (account_id, name)
      )`);
  }

  override down(): void {
    this.addSql('drop table saved_views');
  }
}
