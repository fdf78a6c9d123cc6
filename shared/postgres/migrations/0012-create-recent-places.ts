import { Migration } from '@mikro-orm/migrations';

/**
 * How far the view of recent events has what each partition wrote to the log: a resolver that starts looks at what came
 * after. Written a moment behind the events, so what it says is there is there.
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
