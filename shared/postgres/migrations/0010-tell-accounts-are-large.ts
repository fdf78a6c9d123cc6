import { Migration } from '@mikro-orm/migrations';

/**
 * Makes the planner assume, instead of its sample, that each account has a large part of all identities. After an
 * analysis while each account had a row or two, the planner read all rows of an account for one lookup, until the table
 * was analysed again. Takes effect with the next analysis.
 */
export class TellAccountsAreLarge extends Migration {
  override up(): void {
    this.addSql('alter table visitor_identities alter column account_id set (n_distinct = 1)');
  }

  override down(): void {
    this.addSql('alter table visitor_identities alter column account_id reset (n_distinct)');
  }
}
