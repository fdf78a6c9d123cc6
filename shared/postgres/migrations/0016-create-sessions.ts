import { Migration } from '@mikro-orm/migrations';

/** Open sessions of browsers in the console, each with the API key that opened it. A sign-out deletes the row. */
export class CreateSessions extends Migration {
  override up(): void {
    this.addSql(`
      create table sessions (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        key_id uuid not null references api_keys (id) on delete cascade,
        expires_at timestamptz(3) not null
      )`);
    this.addSql('create index sessions_of_key on sessions (key_id, expires_at)');
    this.addSql('create index sessions_of_account on sessions (account_id)');
  }

  override down(): void {
    this.addSql('drop table sessions');
  }
}
