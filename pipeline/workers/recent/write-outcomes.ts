import type { Pool } from 'pg';
import { forceIndexScans } from '../../../shared/postgres/force-index-scans.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { cleanText } from '../../../shared/visitors/visitor-identity.ts';
import { recentEventId } from './recent-event.ts';

/** What became of an event at a destination, as things stand. */
export type Outcome = {
  readonly accountId: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
  /** Why, where it was not delivered: a code or a short sentence, nothing of what the event holds. */
  readonly reason?: string | undefined;
  /** Requests made so far; 0 when it was stopped before. */
  readonly attempts: number;
  /** When it was so, in ms since the epoch. */
  readonly atMs: number;
};

const reasonLengthMax = 500;

/**
 * Writes outcomes, at most one for each event and destination, of the events that are in the view; what is there
 * already and newer stays. Returns the places in `outcomes` of those whose event is in the view. Like the events they
 * are not flushed to disk before it returns.
 */
export function writeOutcomes(pool: Pool, outcomes: readonly Outcome[]): Promise<ReadonlySet<number>> {
  return inTransaction(pool, async (client) => {
    await client.query('set local synchronous_commit = off');
    await forceIndexScans(client);
    const { rows } = await client.query<{ place: string }>({
      name: 'write-outcomes',
      text: statement,
      values: columns(outcomes),
    });
    return new Set(rows.map((row) => Number(row.place) - 1));
  });
}

function columns(outcomes: readonly Outcome[]): unknown[] {
  return [
    outcomes.map((outcome) => outcome.accountId),
    outcomes.map((outcome) => recentEventId(outcome.eventId) ?? ''),
    outcomes.map((outcome) => outcome.destinationId),
    outcomes.map((outcome) => outcome.outcome),
    outcomes.map((outcome) => cleanText(outcome.reason)?.slice(0, reasonLengthMax) ?? null),
    outcomes.map((outcome) => outcome.attempts),
    outcomes.map((outcome) => new Date(outcome.atMs).toISOString()),
  ];
}

// The events are locked, so that none leaves the view between the look and the insert.
const statement = `
  with known as materialized (
    select k.* from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::timestamptz[])
      with ordinality as k (account_id, event_id, destination_id, outcome, reason, attempts, at, place)
    join recent_events e on e.account_id = k.account_id and e.id = k.event_id
    order by k.account_id, k.event_id, k.destination_id
    for key share of e
  ), written as (
    insert into event_outcomes as o (account_id, event_id, destination_id, outcome, reason, attempts, at)
    select account_id, event_id, destination_id, outcome, reason, attempts, at from known
    on conflict (account_id, event_id, destination_id) do update
      set outcome = excluded.outcome, reason = excluded.reason, attempts = excluded.attempts, at = excluded.at
      where (o.at, o.attempts) <= (excluded.at, excluded.attempts)
  )
  select place from known`;
