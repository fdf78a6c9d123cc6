import { Migration } from '@mikro-orm/migrations';

/** Secrets of sources with public keys, with which a customer's server signs a visitor's identifiers. */
export class CreateSourceSecrets extends Migration {
  override up(): void {
    this.addSql(`
      create table source_secrets (
        account_id uuid not null,
        source_id text not null,
        sealed text not null,
        created_at timestamptz(3) not null,
        primary key (account_id, source_id)
      )`);
  }

  override down(): void {
    this.addSql('drop table source_secrets');
  }
}
