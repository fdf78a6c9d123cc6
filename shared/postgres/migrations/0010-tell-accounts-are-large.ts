import { Migration } from '@mikro-orm/migrations';

/**
 * Tells the planner, instead of what it would find in a sample, that an account has a large part of all identities. A table
 * that was analysed while each account had a row or two made it look one up by reading all of the account's, which grew
 * until the table was analysed again. It counts from then on.
 */
export class TellAccountsAreLarge extends Migration {
  override up(): void {
    this.addSql('alter table visitor_identities alter column account_id set (n_distinct = 1)');
  }

  override down(): void {
    this.addSql('alter table visitor_identities alter column account_id reset (n_distinct)');
  }
}
