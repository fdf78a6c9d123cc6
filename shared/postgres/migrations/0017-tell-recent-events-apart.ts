import { Migration } from '@mikro-orm/migrations';

/**
 * Two visitors, or two sources, may each have an event of one id: `origin` is a hash of both, by which the view of recent
 * events tells such events apart. 0 in rows of earlier builds, which take every outcome of their id. May run twice.
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

  /** 0018 takes the columns back: it may hold a lock on the tables when this runs. */
  override down(): void {}
}
