import { Migration } from '@mikro-orm/migrations';

/**
 * A visitor's version grows with every write, so that a writer notices if its decision was based on an older state. The
 * index finds the aliases of a visitor, which are merged or erased together with the visitor.
 */
export class NumberVisitorWrites extends Migration {
  override up(): void {
    this.addSql('alter table visitors add column version integer not null default 1');
    this.addSql(`
      create index visitors_aliases on visitors (account_id, merged_into) where merged_into is not null`);
  }

  override down(): void {
    this.addSql('drop index visitors_aliases');
    this.addSql('alter table visitors drop column version');
  }
}
