import { Migration } from '@mikro-orm/migrations';

/** Finds the aliases whose shortened chains lead past the visitor they were merged into. Writers do not wait for it. */
export class IndexJoinedAliases extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // What an interrupted run has left is no index that can be used.
    this.addSql('drop index concurrently if exists visitors_joined_to');
    this.addSql(
      'create index concurrently visitors_joined_to on visitors (account_id, joined_to) where joined_to is not null',
    );
  }

  override down(): void {
    this.addSql('drop index visitors_joined_to');
  }
}
