import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes to list the suppressions of an account, newest first, and the suppressions of one erasure. Created without
 * blocking writers.
 */
export class IndexSuppressions extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interrupted run leaves an invalid index.
    this.addSql('drop index concurrently if exists suppressions_of_account');
    this.addSql(
      'create index concurrently suppressions_of_account on erasures ' +
        '(account_id, (coalesce(suppressed_at, erased_at)), hash) where suppressed',
    );
    this.addSql('drop index concurrently if exists suppressions_of_erasure');
    this.addSql(
      'create index concurrently suppressions_of_erasure on erasures (erasure_id) ' +
        'where suppressed and erasure_id is not null',
    );
    // The index suppressions_of_account replaces this one: it also finds whether an account has suppressions.
    this.addSql('drop index concurrently if exists erasures_suppressed');
  }

  override down(): void {
    this.addSql('create index if not exists erasures_suppressed on erasures (account_id) where suppressed');
    this.addSql('drop index suppressions_of_account');
    this.addSql('drop index suppressions_of_erasure');
  }
}
