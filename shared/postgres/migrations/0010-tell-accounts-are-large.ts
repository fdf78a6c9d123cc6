import { Migration } from '@mikro-orm/migrations';

/**
 * Makes the planner assume that each account has all identities, whatever its sample shows. Otherwise, once a table
 * with one or two rows per account has been analysed, the planner reads all rows of an account for each lookup, until
 * the next analysis. Takes effect with the next analysis.
 */
export class TellAccountsAreLarge extends Migration {
  override up(): void {
    this.addSql('alter table visitor_identities alter column account_id set (n_distinct = 1)');
  }

  override down(): void {
    this.addSql('alter table visitor_identities alter column account_id reset (n_distinct)');
  }
}
