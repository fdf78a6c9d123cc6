import { Migration } from '@mikro-orm/migrations';

/**
 * Counts of identifiers and merges that were refused, by hour, source and reason. Earlier pipelines do not write them.
 */
export class CountIdentity extends Migration {
  override up(): void {
    this.addSql(`
      create table identity_counts (
        account_id uuid not null,
        hour timestamptz(0) not null,
        source_id text not null,
        reason text not null,
        count bigint not null,
        last_at timestamptz(3) not null,
        primary key (account_id, hour, source_id, reason)
      )`);
    this.addSql('create index identity_counts_by_hour on identity_counts (hour)');
  }

  override down(): void {
    this.addSql('drop table identity_counts');
  }
}
