import { Migration } from '@mikro-orm/migrations';

/**
 * The time of each property of a visitor, so that the latest value wins in whatever order events arrive. Rows of
 * earlier versions have no times: any new value replaces theirs.
 */
export class TimeProperties extends Migration {
  override up(): void {
    this.addSql('alter table visitors add column property_times text');
    this.addSql(`
      alter table visitor_merges
        add column loser_times text,
        add column survivor_times text,
        add column merged_times text`);
  }

  override down(): void {
    this.addSql(
      'alter table visitor_merges drop column loser_times, drop column survivor_times, drop column merged_times',
    );
    this.addSql('alter table visitors drop column property_times');
  }
}
