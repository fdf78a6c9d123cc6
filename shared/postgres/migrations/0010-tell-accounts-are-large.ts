import { Migration } from '@mikro-orm/migrations';

/**
 * Makes the planner assume that each account has a large part of all identities, whatever its sample says. An analysis
 * made while each account had a row or two let the planner read all rows of an account for one lookup, until the next
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
