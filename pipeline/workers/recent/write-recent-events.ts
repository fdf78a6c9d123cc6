import type { Pool, PoolClient } from 'pg';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { failureFields, isolateRefused } from '../worker/isolate-refused.ts';
import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';
import type { RecentEvent } from './recent-event.ts';
import { readRecentEvent, recentEventOrigin } from './recent-event.ts';
import type { RecorderContext } from './recorder-context.ts';
import { eventUnits } from '../worker/turns.ts';
import type { Turns } from '../worker/turns.ts';
import type { SampledLine } from './sample-frame.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { jsonLines, jsonbOfLines } from '../../../shared/postgres/json-lines.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';
import { isErasedSql } from '../../../shared/visitors/erasures.ts';

/** What one call writes to the view. */
export type LinesToWrite = {
  readonly lines: readonly SampledLine[];
  /** Events without a resolved line, because the tracking plan quarantined or dropped them. */
  readonly left: readonly RecentEvent[];
  /** Divides the reading of the lines into turns. */
  readonly turns: Turns;
};

/** How many times the characters of an event are read. */
const looksAtEach = 3;

/**
 * Writes events to the view, a bounded number per statement. Waits while the database is unavailable. Calls `onWritten`
 * for every statement.
 */
export async function writeRecentEvents(
  context: RecorderContext,
  { lines, left, turns }: LinesToWrite,
  onWritten: (events: readonly RecentEvent[]) => void,
): Promise<void> {
  const { settings, counts, planOutcomes } = context;
  await insertEach(context, left, onWritten);
  for (let start = 0; start < lines.length; start += settings.eventsPerInsert) {
    const some = lines.slice(start, start + settings.eventsPerInsert);
    const events: RecentEvent[] = [];
    for (const sampled of some) {
      const event = readRecentEvent(sampled, settings.bodyBytesMax);
      if (event === undefined) counts.recent_unreadable += 1;
      else events.push({ ...event, plan: planOutcomes.take(event) });
      const over = turns.spend(eventUnits + sampled.line.bytes * looksAtEach);
      if (over !== undefined) await over;
    }
    await insertEach(context, events, onWritten);
  }
}

/** Inserts events with one statement; if the database refuses some of them, all others are inserted without them. */
function insertEach(
  context: RecorderContext,
  events: readonly RecentEvent[],
  onWritten: (events: readonly RecentEvent[]) => void,
): Promise<void> {
  const { counts, logger } = context;
  return isolateRefused(
    events,
    async (batch) => {
      await insertSurely(context, batch);
      onWritten(batch);
    },
    (_event, error) => {
      counts.recent_refused += 1;
      logger.warn(failureFields(error), 'an event was skipped in the recent-events view');
    },
  );
}

async function insertSurely(context: RecorderContext, events: readonly RecentEvent[]): Promise<void> {
  const { pool, counts, logger, signal } = context;
  const inserted = await retry(() => insertRecentEvents(pool, events), {
    signal,
    isPassing: (error) => !isRefusedValue(error),
    onRetry: (error, attempt) => {
      counts.recent_insert_retries += 1;
      if (isWorthTelling(attempt)) logger.warn(failureFields(error), 'writing the recent-events view failed; retrying');
    },
  });
  counts.recent_recorded += inserted;
  counts.recent_not_needed += events.length - inserted;
}

/**
 * Adds events to the view and returns how many were added: existing events stay, except that a live event replaces a
 * test event with its id; events of erased visitors that were received before the erasure stay out. The sessions of
 * `pool` have `forceIndexScans`. The events are not flushed to disk before this returns: a crash of the database loses
 * only part of a view.
 */
export function insertRecentEvents(pool: Pool, events: readonly RecentEvent[]): Promise<number> {
  const insert = async (client: PoolClient): Promise<number> => {
    await holdForWriting(client, [...new Set(events.map((event) => event.accountId))]);
    const { rowCount } = await client.query({ name: 'insert-recent-events', text: statement, values: columns(events) });
    return rowCount ?? 0;
  };
  return inTransaction(pool, insert, { isFlushed: false });
}

const statement = `
  insert into recent_events
    (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, origin, body, plan)
  select distinct on (k.account_id, k.id, k.origin) k.* from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
      $7::text[], $8::boolean[], $9::int[], $10::int[], $11::int[], ${jsonbOfLines('$12')}, ${jsonbOfLines('$13')})
    as k (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, origin, body, plan)
  where not ${isErasedSql('k.account_id', 'k.visitor_id', 'k.received_at')}
  order by k.account_id, k.id, k.origin, k.test
  on conflict (account_id, id, origin) do update
  set time = excluded.time, received_at = excluded.received_at, name = excluded.name, test = false,
    version_number = excluded.version_number, sample_of = excluded.sample_of, body = excluded.body, plan = excluded.plan
  where recent_events.test and not excluded.test`;

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
    events.map(recentEventOrigin),
    jsonLines(events.map((event) => event.body)),
    // A missing value is sent as a JSON null: the text that PostgreSQL splits into lines cannot hold an SQL null.
    jsonLines(events.map(({ plan }) => JSON.stringify(plan ?? null))),
  ];
}
