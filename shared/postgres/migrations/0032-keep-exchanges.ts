import { Migration } from '@mikro-orm/migrations';

/**
 * `exchange` is a failed request with its answer, `answer` the key by which failures are grouped. Both are null if an
 * attempt succeeded or was not made, and in rows of earlier builds, and are deleted with their outcome.
 */
export class KeepExchanges extends Migration {
  override up(): void {
    this.addSql('alter table event_outcomes add column answer jsonb, add column exchange jsonb');
  }

  override down(): void {
    this.addSql('alter table event_outcomes drop column answer, drop column exchange');
  }
}
