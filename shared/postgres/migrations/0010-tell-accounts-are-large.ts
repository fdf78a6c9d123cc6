import { Migration } from '@mikro-orm/migrations';

/**
 * Makes the planner assume that each account has all identities, whatever its sample shows. After an analysis of a
 * table with a row or two per account, the planner read all rows of an account for each lookup, until the next
 * analysis. Takes effect with the next analysis.
 */
export class TellAccountsAreLarge extends Migration {
  override up(): void {
    this.addSql('alter table visitor_identities alter column account_id set (n_distinct = 1)');
  }

  override down(): void {
    this.addSql('alter table visitor_identities alter column account_id reset (n_distinct)');
  }
}
