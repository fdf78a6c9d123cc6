import { Migration } from '@mikro-orm/migrations';

/**
 * An account's identity settings; null for the defaults. Each visitor's row counts the ids and identities that lead to
 * the visitor, so that their number can be limited; existing rows count from 0.
 */
export class SetIdentity extends Migration {
  override up(): void {
    this.addSql('alter table accounts add column identity jsonb');
    this.addSql(`
      alter table visitors
        add column external_ids int not null default 0,
        add column emails int not null default 0,
        add column aliases int not null default 0`);
  }

  override down(): void {
    this.addSql('alter table visitors drop column external_ids, drop column emails, drop column aliases');
    this.addSql('alter table accounts drop column identity');
  }
}
