import { Migration } from '@mikro-orm/migrations';

/**
 * Adds `origin` to the keys of the recent-events view. Existing rows are not checked again, since the previous foreign
 * key has checked them.
 */
export class KeyRecentEventsByOrigin extends Migration {
  override up(): void {
    this.addSql('alter table event_outcomes drop constraint event_outcomes_account_id_event_id_fkey');
    this.addSql(`
      alter table recent_events
        drop constraint recent_events_pkey,
        add constraint recent_events_pkey primary key using index recent_events_key`);
    this.addSql(`
      alter table event_outcomes
        drop constraint event_outcomes_pkey,
        add constraint event_outcomes_pkey primary key using index event_outcomes_key,
        add constraint event_outcomes_event_fkey foreign key (account_id, event_id, origin)
          references recent_events (account_id, id, origin) on delete cascade not valid`);
  }

  override down(): void {
    this.addSql('delete from recent_events where origin <> 0');
    this.addSql(`
      alter table event_outcomes
        drop constraint event_outcomes_event_fkey,
        drop constraint event_outcomes_pkey,
        drop column origin,
        add primary key (account_id, event_id, destination_id)`);
    this.addSql(`
      alter table recent_events
        drop constraint recent_events_pkey,
        drop column origin,
        add primary key (account_id, id)`);
    this.addSql(`
      alter table event_outcomes
        add foreign key (account_id, event_id) references recent_events (account_id, id) on delete cascade`);
  }
}
