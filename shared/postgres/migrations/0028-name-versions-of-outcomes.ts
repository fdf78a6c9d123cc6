import { Migration } from '@mikro-orm/migrations';

/** Each outcome names the version that decided it; null in rows of earlier builds, and where no version did. */
export class NameVersionsOfOutcomes extends Migration {
  override up(): void {
    this.addSql('alter table event_outcomes add column version_number integer');
  }

  override down(): void {
    this.addSql('alter table event_outcomes drop column version_number');
  }
}
