import { Migration } from '@mikro-orm/migrations';

/**
 * Links that each sign a browser in once: the hash of the link's code, and the sealed API key. Neither is of use to a
 * reader of the table.
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
