import { Migration } from '@mikro-orm/migrations';

/**
 * The recent-events view, which people read: resolved events and their outcomes at each destination, written in batches
 * and trimmed; the log is the source of truth. Outcomes are deleted with their event. Accounts are not referenced,
 * because the event path must not wait for a lock of the configuration tables.
 */
export class CreateRecentEventTables extends Migration {
  override up(): void {
    this.addSql(`
      create table recent_events (
        account_id uuid not null,
        id text not null,
        time timestamptz(3) not null,
        received_at timestamptz(3) not null,
        source_id text not null,
        name text not null,
        visitor_id text not null,
        test boolean not null,
        version_number integer,
        sample_of integer not null default 1,
        body jsonb not null,
        primary key (account_id, id)
      )`);
    this.addSql('create index recent_events_newest on recent_events (account_id, time desc, id desc)');
    this.addSql('create index recent_events_of_visitor on recent_events (account_id, visitor_id)');
    // Events are trimmed by the time at which they were received, not by their own time.
    this.addSql('create index recent_events_received on recent_events (account_id, received_at, id)');
    this.addSql(`
      create table event_outcomes (
        account_id uuid not null,
        event_id text not null,
        destination_id text not null,
        outcome text not null check (outcome in ('delivered', 'retrying', 'rejected', 'stopped', 'globalStop')),
        reason text,
        attempts integer not null,
        at timestamptz(3) not null,
        primary key (account_id, event_id, destination_id),
        foreign key (account_id, event_id) references recent_events (account_id, id) on delete cascade
      )`);
  }

  override down(): void {
    this.addSql('drop table event_outcomes');
    this.addSql('drop table recent_events');
  }
}
