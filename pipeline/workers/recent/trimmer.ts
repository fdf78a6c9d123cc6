import type { Pool } from 'pg';
import { failureFields } from '../worker/isolate-refused.ts';
import type { RecorderContext } from './recorder-context.ts';

/** Keeps the view within its bounds. */
export type Trimmer = {
  /** Records that an account got new events, which may bring it over its quota soon. */
  noteAdded(accountId: string, events: number): void;
  /** Stops trimming after the account that is being trimmed. */
  stop(): Promise<void>;
};

/** The events of an account are counted again once this fraction of its quota was added. */
const uncountedPart = 1 / 20;

/**
 * Starts trimming. Every recorder limits the number of events in the accounts that it adds events to; the recorder of
 * the first partition also removes old events from all accounts. A failed trim is counted, and tried again later.
 */
export function startTrimmer(context: RecorderContext): Trimmer {
  const { partition, pool, settings, counts, logger } = context;
  const looksAtAll = partition === 0;
  const addedSince = new Map<string, number>();
  // Each account is counted once after a start, since earlier additions are not known.
  const counted = new Set<string>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let skippedBefore = 0;

  const trimAccount = async (accountId: string): Promise<void> => {
    if (looksAtAll) {
      counts.recent_trimmed += await trimByAge(pool, accountId, settings, Date.now());
      await trimExchanges(pool, accountId, settings.exchangesMax);
    }
    const added = addedSince.get(accountId) ?? 0;
    if (counted.has(accountId) && added < settings.eventsMax * uncountedPart) return;
    addedSince.delete(accountId);
    const trimmed = await trimByCount(pool, accountId, settings);
    counts.recent_trimmed += trimmed;
    // If the trim removed as many as it may, more may be left: the account is counted again.
    if (trimmed < trimEventsMax) counted.add(accountId);
    else counted.delete(accountId);
  };
  const trim = async (): Promise<void> => {
    const accounts = looksAtAll ? await accountsInView(pool) : [...addedSince.keys()];
    for (const accountId of accounts) {
      if (stopped) return;
      await trimAccount(accountId);
    }
  };
  const reportSkipped = (): void => {
    const skipped = counts.recent_skipped_sampled + counts.recent_skipped_behind;
    if (skipped > skippedBefore) {
      logger.warn(
        { events: skipped - skippedBefore },
        'the recent-events view holds a sample: more events arrive than it accepts',
      );
    }
    skippedBefore = skipped;
  };
  const turn = async (): Promise<void> => {
    reportSkipped();
    try {
      await trim();
    } catch (error) {
      counts.recent_trim_failures += 1;
      logger.warn(failureFields(error), 'trimming the recent-events view failed');
    }
    schedule();
  };
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = turn();
    }, settings.trimEveryMs);
  };

  schedule();
  return {
    noteAdded(accountId, events) {
      addedSince.set(accountId, (addedSince.get(accountId) ?? 0) + events);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** An account's events are ordered by receipt, then by id; this is a position in that order. */
type Place = { readonly receivedAt: Date; readonly id: string };

type TrimLimits = { readonly eventsMax: number; readonly ageMaxMs: number };

const eventsPerDelete = 2_000;
const deletesMax = 50;
/** Maximum number of an account's events that one trim removes; the rest waits for the next trim. */
const trimEventsMax = eventsPerDelete * deletesMax;

/** The accounts with events in the view; reads one row per account. */
async function accountsInView(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ account_id: string }>(`
    with recursive accounts as (
      (select account_id from recent_events order by account_id limit 1)
      union all
      select (select e.account_id from recent_events e where e.account_id > a.account_id order by e.account_id limit 1)
      from accounts a where a.account_id is not null
    )
    select account_id from accounts where account_id is not null`);
  return rows.map((row) => row.account_id);
}

/** Removes an account's events that were received longer than `ageMaxMs` ago. Returns how many. */
function trimByAge(pool: Pool, accountId: string, { ageMaxMs }: TrimLimits, nowMs: number): Promise<number> {
  // Every id sorts after the empty one, so events received at exactly that time stay.
  return deleteUpTo(pool, accountId, { receivedAt: new Date(nowMs - ageMaxMs), id: '' });
}

/** Removes an account's events beyond its quota, oldest first. Returns how many. */
async function trimByCount(pool: Pool, accountId: string, { eventsMax }: TrimLimits): Promise<number> {
  const { rows } = await pool.query<Place>(
    `select received_at as "receivedAt", id from recent_events where account_id = $1
      order by received_at desc, id desc offset $2 limit 1`,
    [accountId, eventsMax],
  );
  const [last] = rows;
  return last === undefined ? 0 : deleteUpTo(pool, accountId, last);
}

/** Removes an account's oldest failed requests and answers beyond `exchangesMax`; their outcomes stay. */
async function trimExchanges(pool: Pool, accountId: string, exchangesMax: number): Promise<void> {
  await pool.query(exchangesStatement, [accountId, exchangesMax]);
}

export const exchangesStatement = `
  update event_outcomes set exchange = null where account_id = $1 and exchange is not null and at <= (
    select at from event_outcomes where account_id = $1 and exchange is not null order by at desc offset $2 limit 1)`;

async function deleteUpTo(pool: Pool, accountId: string, { receivedAt, id }: Place): Promise<number> {
  let deleted = 0;
  for (let turn = 0; turn < deletesMax; turn += 1) {
    // Two trimmers at once skip each other's rows instead of deadlocking.
    const { rowCount } = await pool.query(
      `with leaving as (
        select account_id, id, origin from recent_events where account_id = $1 and (received_at, id) <= ($2, $3)
        order by received_at, id limit $4 for update skip locked
      )
      delete from recent_events e using leaving l where e.account_id = l.account_id and e.id = l.id and e.origin = l.origin`,
      [accountId, receivedAt, id, eventsPerDelete],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < eventsPerDelete) break;
  }
  return deleted;
}
