import { Migration } from '@mikro-orm/migrations';

/**
 * Two visitors, or two sources, may send events with the same id. `origin` is a hash of visitor and source that
 * distinguishes such events in the view of recent events. Rows of earlier builds have 0, and receive every outcome of
 * an event with their id. This migration may run twice.
 */
export class TellRecentEventsApart extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('alter table recent_events add column if not exists origin integer not null default 0');
    this.addSql('alter table event_outcomes add column if not exists origin integer not null default 0');
    this.addSql('drop index concurrently if exists recent_events_key');
    this.addSql('create unique index concurrently recent_events_key on recent_events (account_id, id, origin)');
    this.addSql('drop index concurrently if exists event_outcomes_key');
    this.addSql(
      'create unique index concurrently event_outcomes_key on event_outcomes (account_id, event_id, origin, destination_id)',
    );
  }

  /** Nothing: the down migration of 0018 removes the columns, and may still hold a lock on the tables at this point. */
  override down(): void {}
}
