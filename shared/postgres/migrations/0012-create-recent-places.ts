import { Migration } from '@mikro-orm/migrations';

/**
 * For each partition, the position in the log up to which the view of recent events is complete. A resolver that starts
 * reads the log from this position. It is written shortly after the events, and thus never ahead of them.
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
