import { Migration } from '@mikro-orm/migrations';

/**
 * Visitors who saw an experiment, and whether they converted; results are counted from these rows. A write keeps the
 * earliest or the latest of the old and new times, so events may arrive twice, in any order and from several writers. A
 * row is deleted when its visitor is erased. Neither accounts nor visitors are referenced, because the event path must
 * not wait for a lock of another table.
 */
export class CreateExperimentVisitors extends Migration {
  override up(): void {
    this.addSql(`
      create table experiment_visitors (
        account_id uuid not null,
        experiment_id text not null,
        visitor_id text not null,
        variant_id text,
        exposed_at timestamptz(3),
        metric text,
        converted_at timestamptz(3),
        primary key (account_id, experiment_id, visitor_id)
      )`);
    this.addSql('create index experiment_visitors_of_visitor on experiment_visitors (account_id, visitor_id)');
  }

  override down(): void {
    this.addSql('drop table experiment_visitors');
  }
}
