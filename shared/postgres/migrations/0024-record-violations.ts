import { Migration } from '@mikro-orm/migrations';

/**
 * Counts of violations of tracking plans, by hour; the plan's outcome for each event in the view of recent events; and
 * the actions of accounts for events and properties that their plans do not list. Pipelines of the previous version
 * write neither counts nor outcomes.
 */
export class RecordViolations extends Migration {
  override up(): void {
    this.addSql(`
      create table violations (
        account_id uuid not null,
        hour timestamptz(0) not null,
        rule text not null,
        event text not null,
        source_id text not null,
        app_version text not null,
        action text not null,
        severity text not null,
        count bigint not null,
        first_at timestamptz(3) not null,
        last_at timestamptz(3) not null,
        sample text not null,
        primary key (account_id, hour, rule, event, source_id, app_version)
      )`);
    this.addSql('create index violations_by_hour on violations (hour)');
    this.addSql('alter table recent_events add column plan jsonb');
    this.addSql('alter table accounts add column plan_settings jsonb');
  }

  override down(): void {
    this.addSql('alter table accounts drop column plan_settings');
    this.addSql('alter table recent_events drop column plan');
    this.addSql('drop table violations');
  }
}
