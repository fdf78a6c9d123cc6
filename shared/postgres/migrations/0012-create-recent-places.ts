import { Migration } from '@mikro-orm/migrations';

/**
 * The position up to which the view of recent events has the events of each partition: a resolver that starts reads the
 * log from there. Written shortly after the events, so that all events up to it are in the view.
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
