import { Migration } from '@mikro-orm/migrations';

/** The secrets with which servers sign the identifiers of visitors whose events come with a source's public key. */
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
