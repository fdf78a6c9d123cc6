import { Migration } from '@mikro-orm/migrations';

/** Index of an account's exchanges, oldest first, to find those over the limit. Created without blocking writers. */
export class IndexExchanges extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interrupted run leaves an invalid index.
    this.addSql('drop index concurrently if exists event_outcomes_exchanges');
    this.addSql(
      'create index concurrently event_outcomes_exchanges on event_outcomes (account_id, at) where exchange is not null',
    );
  }

  override down(): void {
    this.addSql('drop index event_outcomes_exchanges');
  }
}
