import { Migration } from '@mikro-orm/migrations';

/** Finds the exchanges that an account has beyond its limit, oldest first. Writers do not wait for it. */
export class IndexExchanges extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interrupted run leaves an index that is not valid.
    this.addSql('drop index concurrently if exists event_outcomes_exchanges');
    this.addSql(
      'create index concurrently event_outcomes_exchanges on event_outcomes (account_id, at) where exchange is not null',
    );
  }

  override down(): void {
    this.addSql('drop index event_outcomes_exchanges');
  }
}
