import { Migration } from '@mikro-orm/migrations';

/**
 * The variant of each visitor in each experiment. It never changes, and is deleted when the visitor is erased. Neither
 * accounts nor visitors are referenced, because a visitor may be assigned before their first event.
 */
export class CreateExperimentAssignments extends Migration {
  override up(): void {
    this.addSql(`
      create table experiment_assignments (
        account_id uuid not null,
        visitor_id text not null,
        experiment_id text not null,
        variant_id text not null,
        assigned_at timestamptz not null default now(),
        primary key (account_id, visitor_id, experiment_id)
      )`);
  }

  override down(): void {
    this.addSql('drop table experiment_assignments');
  }
}
