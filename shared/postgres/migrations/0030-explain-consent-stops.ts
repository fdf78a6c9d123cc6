import { Migration } from '@mikro-orm/migrations';

/**
 * The decision on each purpose, for an event that consent stopped; null in other rows and in rows of earlier builds.
 */
export class ExplainConsentStops extends Migration {
  override up(): void {
    this.addSql('alter table event_outcomes add column consent jsonb');
  }

  override down(): void {
    this.addSql('alter table event_outcomes drop column consent');
  }
}
