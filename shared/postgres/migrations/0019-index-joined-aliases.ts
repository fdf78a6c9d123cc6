import { Migration } from '@mikro-orm/migrations';

/**
 * Index of the aliases whose shortened chains skip the visitor they were merged into. Created without blocking writers.
 */
export class IndexJoinedAliases extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interrupted run leaves an invalid index.
    this.addSql('drop index concurrently if exists visitors_joined_to');
    this.addSql(
      'create index concurrently visitors_joined_to on visitors (account_id, joined_to) where joined_to is not null',
    );
  }

  override down(): void {
    this.addSql('drop index visitors_joined_to');
  }
}
