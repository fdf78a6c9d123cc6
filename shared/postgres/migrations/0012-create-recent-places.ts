import { Migration } from '@mikro-orm/migrations';

/**
 * For each partition, the position in the log up to which the view of recent events is complete: a resolver that starts
 * reads the log from there. Written shortly after the events, so never ahead of them.
 */
export class CreateRecentPlaces extends Migration {
  override up(): void {
    this.addSql(`
      create table recent_places (
        partition integer primary key,
        seq bigint not null
      )`);
  }

  override down(): void {
    this.addSql('drop table recent_places');
  }
}
