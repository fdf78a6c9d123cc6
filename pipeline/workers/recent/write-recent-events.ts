import type { Pool, PoolClient } from 'pg';
import { countWaiting } from '../../../shared/nats/consume/unfinished-messages.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { failureFields, isolateRefused } from '../worker/isolate-refused.ts';
import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';
import type { RecentEvent } from './recent-event.ts';
import { readRecentEvent } from './recent-event.ts';
import type { RecorderContext } from './recorder-context.ts';
import { recorderConsumer } from './recorder-context.ts';
import { eventUnits } from '../worker/turns.ts';
import type { Turns } from '../worker/turns.ts';
import type { SampledLine } from './sample-frame.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { jsonLines, jsonbOfLines } from '../../../shared/postgres/json-lines.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';

/** Lines of one stored time that go into the view. */
export type LinesToWrite = {
  readonly lines: readonly SampledLine[];
  readonly oldestAtMs: number;
  /** What their reading is divided into. */
  readonly turns: Turns;
};

/** How often the characters of an event are looked at. */
const looksAtEach = 3;

/**
 * Writes events to the view, a bounded number a statement. Waits as long as the database is away, unless so much has
 * come meanwhile that the view would hold up the log: then they are left out. Calls `onWritten` for every statement.
 */
export async function writeRecentEvents(
  context: RecorderContext,
  { lines, oldestAtMs, turns }: LinesToWrite,
  onWritten: (events: readonly RecentEvent[]) => void,
): Promise<void> {
  const { settings, counts, logger } = context;
  for (let start = 0; start < lines.length; start += settings.eventsPerInsert) {
    const some = lines.slice(start, start + settings.eventsPerInsert);
    const events: RecentEvent[] = [];
    for (const sampled of some) {
      const event = readRecentEvent(sampled, settings.bodyBytesMax);
      if (event === undefined) counts.unreadable += 1;
      else events.push(event);
      const over = turns.spend(eventUnits + sampled.line.bytes * looksAtEach);
      if (over !== undefined) await over;
    }
    await isolateRefused(
      events,
      async (batch) => {
        if (await insertSurely(context, batch, oldestAtMs)) onWritten(batch);
      },
      (_event, error) => {
        counts.refused += 1;
        logger.warn(failureFields(error), 'an event was left out of the view');
      },
    );
  }
}

/** False when the events were left out. */
async function insertSurely(
  context: RecorderContext,
  events: readonly RecentEvent[],
  oldestAtMs: number,
): Promise<boolean> {
  const { pool, counts, logger, signal } = context;
  const insert = async (attempt: number): Promise<number | undefined> =>
    attempt > 1 && (await isTooFarBehind(context, oldestAtMs)) ? undefined : insertRecentEvents(pool, events);
  const inserted = await retry(insert, {
    signal,
    isPassing: (error) => !isRefusedValue(error),
    onRetry: (error, attempt) => {
      counts.insert_retries += 1;
      if (isWorthTelling(attempt))
        logger.warn(failureFields(error), 'the recent-events view cannot be written, retrying');
    },
  });
  if (inserted === undefined) {
    counts.skipped_behind += events.length;
    return false;
  }
  counts.recorded += inserted;
  counts.not_needed += events.length - inserted;
  return true;
}

async function isTooFarBehind({ connection, settings }: RecorderContext, oldestAtMs: number): Promise<boolean> {
  if (Date.now() - oldestAtMs <= settings.behindMaxMs || !connection.connected) return false;
  const waiting = await countWaiting(connection, recorderConsumer(settings)).catch(() => 0);
  return waiting > settings.behindFramesMax;
}

/**
 * Adds events to the view and returns how many it added: those that are there already stay as they are, and those of
 * erased visitors stay out. The pool is one that looks up by key. Not flushed to disk before it returns: what a crash of the database takes is only a view.
 */
export function insertRecentEvents(pool: Pool, events: readonly RecentEvent[]): Promise<number> {
  const insert = async (client: PoolClient): Promise<number> => {
    await holdForWriting(client, [...new Set(events.map((event) => event.accountId))]);
    const { rowCount } = await client.query({ name: 'insert-recent-events', text: statement, values: columns(events) });
    return rowCount ?? 0;
  };
  return inTransaction(pool, insert, { isFlushed: false });
}

// An alias never leads to another alias: merging moves the aliases of the loser along.
const statement = `
  insert into recent_events
    (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, body)
  select k.* from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
      $7::text[], $8::boolean[], $9::int[], $10::int[], ${jsonbOfLines('$11')})
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
    jsonLines(events.map((event) => event.body)),
  ];
}
