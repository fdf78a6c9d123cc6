import { countWaiting } from '../../../shared/nats/consume/unfinished-messages.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import { failureFields } from '../worker/failure-fields.ts';
import { insertRecentEvents } from './insert-recent-events.ts';
import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';
import { isolateRefused } from '../worker/isolate-refused.ts';
import { readRecentEvent } from './recent-event.ts';
import type { RecentEvent } from './recent-event.ts';
import { recorderConsumer } from './recorder-context.ts';
import type { RecorderContext } from './recorder-context.ts';
import type { SampledLine } from './sample-frame.ts';

/** Lines of one stored time that go into the view. */
export type LinesToWrite = { readonly lines: readonly SampledLine[]; readonly oldestAtMs: number };

/**
 * Writes events to the view, a bounded number a statement. Waits as long as the database is away, unless so much has
 * come meanwhile that the view would hold up the log: then they are left out. Calls `onWritten` for every statement.
 */
export async function writeRecentEvents(
  context: RecorderContext,
  { lines, oldestAtMs }: LinesToWrite,
  onWritten: (events: readonly RecentEvent[]) => void,
): Promise<void> {
  const { settings, counts, logger } = context;
  for (let start = 0; start < lines.length; start += settings.eventsPerInsert) {
    const some = lines.slice(start, start + settings.eventsPerInsert);
    const events = some.flatMap((line) => readRecentEvent(line, settings.bodyBytesMax) ?? []);
    counts.unreadable += some.length - events.length;
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
      if (attempt === 3) logger.warn(failureFields(error), 'the recent-events view cannot be written, retrying');
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
