import type { Pool } from 'pg';
import { forceIndexScans } from '../../../shared/postgres/force-index-scans.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';
import type { RecentEvent } from './recent-event.ts';

/**
 * Adds events to the view and returns how many it added: those that are there already stay as they are, and those of
 * erased visitors stay out. Not flushed to disk before it returns: what a crash of the database takes is only a view.
 */
export function insertRecentEvents(pool: Pool, events: readonly RecentEvent[]): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query('set local synchronous_commit = off');
    await forceIndexScans(client);
    await holdForWriting(client, [...new Set(events.map((event) => event.accountId))]);
    const { rowCount } = await client.query({ name: 'insert-recent-events', text: statement, values: columns(events) });
    return rowCount ?? 0;
  });
}

// An alias never leads to another alias: merging moves the aliases of the loser along.
const statement = `
  insert into recent_events
    (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, body)
  select k.* from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
      $7::text[], $8::boolean[], $9::int[], $10::int[], $11::jsonb[])
    as k (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, body)
  where not exists (
    select 1 from visitors v left join visitors s on s.account_id = v.account_id and s.id = v.merged_into
    where v.account_id = k.account_id and v.id = k.visitor_id and (v.erased_at is not null or s.erased_at is not null))
  order by k.account_id, k.id
  on conflict do nothing`;

function columns(events: readonly RecentEvent[]): unknown[] {
  return [
    events.map((event) => event.accountId),
    events.map((event) => event.id),
    events.map((event) => new Date(event.timeMs).toISOString()),
    events.map((event) => new Date(event.receivedAtMs).toISOString()),
    events.map((event) => event.sourceId),
    events.map((event) => event.name),
    events.map((event) => event.visitorId),
    events.map((event) => event.test),
    events.map((event) => event.versionNumber ?? null),
    events.map((event) => event.sampleOf),
    events.map((event) => event.body),
  ];
}
