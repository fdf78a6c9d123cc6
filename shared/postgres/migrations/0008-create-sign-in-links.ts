import { Migration } from '@mikro-orm/migrations';

/**
 * Links that sign a browser in, once: the hash of their code, and the API key they stand for, sealed. A reader of
 * the table can use neither.
 */
export class CreateSignInLinks extends Migration {
  override up(): void {
    this.addSql(`
      create table sign_in_links (
        code_hash text primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        sealed_key text not null,
        expires_at timestamptz(3) not null
      )`);
  }

  override down(): void {
    this.addSql('drop table sign_in_links');
  }
}
