import { Migration } from '@mikro-orm/migrations';

/** The version that decided each outcome; null in rows of earlier builds, and if no version decided it. */
export class NameVersionsOfOutcomes extends Migration {
  override up(): void {
    this.addSql('alter table event_outcomes add column version_number integer');
  }

  override down(): void {
    this.addSql('alter table event_outcomes drop column version_number');
  }
}
