import type { Pool, PoolClient } from 'pg';
import { sampleHash } from '../../../shared/contracts/events/event-hash.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import type { PurposeAnswer } from '../../../shared/routing/consent/purpose-answer.ts';
import { isolateRefused } from '../worker/isolate-refused.ts';
import type { OutcomeStats } from './outcome-stats.ts';
import { createOutcomeCounts } from './outcome-stats.ts';
import type { OutcomeSettings } from './recent-settings.ts';
import { createSamplingBucket, createSamplingBuckets } from './sampling-bucket.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { platformErrorOf } from '../../../shared/contracts/events/exchange.ts';
import type { Exchange } from '../../../shared/contracts/events/exchange.ts';
import { jsonLines, jsonbOfLines } from '../../../shared/postgres/json-lines.ts';
import { cleanJson } from '../../../shared/visitors/clean-json.ts';
import { cleanText } from '../../../shared/visitors/visitor-identity.ts';
import { recentEventId, recentEventOrigin } from './recent-event.ts';

/** `pool` has sessions with `forceIndexScans`. */
export type OutcomeRecorderOptions = { readonly pool: Pool } & OutcomeSettings;

/**
 * Records the outcomes of events at destinations, for the recent-events view. A view need not be complete: outcomes are
 * kept in memory for a moment and written together; beyond the limits some are left out, and counted.
 */
export type OutcomeRecorder = {
  /** Records an outcome; a newer one of the same event and destination replaces it. Never waits, never throws. */
  record(outcome: Outcome): void;
  stats(): OutcomeStats;
  /** Writes waiting outcomes once, and ends; stops waiting for the database after `deadlineMs`, default 2,000. */
  close(deadlineMs?: number): Promise<void>;
};

/** An outcome that waits for the next write, or for its event to enter the view. */
type Waiting = {
  readonly outcome: KeptOutcome;
  readonly missesMax: number;
  misses: number;
  dueAtMs: number;
};

/**
 * In a flood most events are not in the view, so the event of an outcome that represents many is looked up only this
 * many times.
 */
const missesOfSampledMax = 2;
/** If too many outcomes wait, the maximum divided by this is removed at once. */
const evictedShare = 64;

/** Makes a recorder; any number of them may work on one database. */
export function createOutcomeRecorder({ pool, ...settings }: OutcomeRecorderOptions): OutcomeRecorder {
  const counts = createOutcomeCounts();
  const buckets = createSamplingBuckets(settings);
  const bucketOfAll = createSamplingBucket(settings.ofThread, Date.now());
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  const add = (key: string, note: Waiting): void => {
    waiting.delete(key);
    waiting.set(key, note);
    if (waiting.size <= settings.waitingMax) return;
    // Several are removed at once: a Map that repeatedly loses its first entry scans all removed entries each time.
    let over = Math.ceil(settings.waitingMax / evictedShare);
    for (const oldest of waiting.keys()) {
      if (over === 0) return;
      waiting.delete(oldest);
      counts.dropped_full += 1;
      over -= 1;
    }
  };

  const putBack = (note: Waiting): void => {
    const key = keyOf(note.outcome);
    const newer = waiting.get(key);
    if (newer === undefined || !isNewer(newer.outcome, note.outcome)) add(key, note);
  };

  const miss = (note: Waiting): void => {
    note.misses += 1;
    if (closed || note.misses >= note.missesMax) {
      counts.dropped_unknown += 1;
      return;
    }
    note.dueAtMs = performance.now() + settings.flushEveryMs * 2 ** note.misses;
    putBack(note);
  };

  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const unfinished = new Set(batch);
    try {
      await isolateRefused(
        batch,
        async (some) => {
          const known = await writeOutcomes(
            pool,
            some.map((note) => note.outcome),
          );
          counts.recorded += known.size;
          some.forEach((note, index) => {
            unfinished.delete(note);
            if (!known.has(index)) miss(note);
          });
        },
        (note) => {
          unfinished.delete(note);
          counts.refused += 1;
        },
      );
    } catch {
      // The database is unavailable.
      counts.failed_writes += 1;
      for (const note of unfinished) putBack(note);
    }
  };

  const writeDue = async (): Promise<void> => {
    const nowMs = performance.now();
    const due: (readonly [string, Waiting])[] = [];
    for (const entry of waiting) if (closed || entry[1].dueAtMs <= nowMs) due.push(entry);
    const failedBefore = counts.failed_writes;
    while (due.length > 0 && counts.failed_writes === failedBefore) {
      const batch = due.splice(0, settings.outcomesPerWrite);
      for (const [key, note] of batch) if (waiting.get(key) === note) waiting.delete(key);
      await writeBatch(batch.map(([, note]) => note));
    }
  };

  const schedule = (): void => {
    if (timer !== undefined || closed || waiting.size === 0) return;
    timer = setTimeout(() => {
      writing = writeDue().finally(() => {
        timer = undefined;
        schedule();
      });
    }, settings.flushEveryMs);
  };

  return {
    record(outcome) {
      if (closed) return;
      const { eventId, destinationId, atMs } = outcome;
      let known: number | undefined;
      const hash = (): number => (known ??= sampleHash(eventId));
      const ofDestination = buckets.of(destinationId, atMs).take(hash, atMs);
      const standsFor = ofDestination === 0 ? 0 : bothOf(ofDestination, bucketOfAll.take(hash, atMs));
      if (standsFor === 0) {
        counts.dropped_sampled += 1;
        return;
      }
      const { exchange: failed, ...kept } = outcome;
      if (failed !== undefined && waiting.size >= settings.exchangesWaitingMax) counts.exchanges_dropped += 1;
      const exchange = waiting.size < settings.exchangesWaitingMax ? failed?.read() : undefined;
      const missesMax = standsFor === 1 ? settings.missesMax : Math.min(settings.missesMax, missesOfSampledMax);
      putBack({ outcome: { ...kept, exchange }, missesMax, misses: 0, dueAtMs: 0 });
      schedule();
    },
    stats: () => ({ ...counts, waiting: waiting.size }),
    close(deadlineMs = 2_000) {
      closed = true;
      clearTimeout(timer);
      return withDeadline(writing.then(writeDue), deadlineMs);
    },
  };
}

/** How many events an outcome represents, from the results of two buckets; 0 if the second bucket left it out. */
const bothOf = (one: number, other: number): number => (other === 0 ? 0 : Math.max(one, other));

function keyOf({ accountId, eventId, sourceId, visitorId, destinationId }: KeptOutcome): string {
  return `${accountId}\n${destinationId}\n${sourceId}\n${visitorId}\n${eventId}`;
}

function isNewer(a: KeptOutcome, b: KeptOutcome): boolean {
  return a.atMs === b.atMs ? a.attempts > b.attempts : a.atMs > b.atMs;
}

/** The present outcome of an event at a destination. */
export type Outcome = {
  readonly accountId: string;
  readonly eventId: string;
  /** Together with the visitor, distinguishes events with one id. */
  readonly sourceId: string;
  readonly visitorId: string;
  readonly destinationId: string;
  readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
  /** The reason if the event was not delivered: a code or a short sentence, without content of the event. */
  readonly reason?: string | undefined;
  /** The decision on each purpose, if consent stopped the event. */
  readonly consent?: readonly PurposeAnswer[] | undefined;
  /** Number of requests so far; 0 if the event was stopped before the first. */
  readonly attempts: number;
  /** The version that decided it; undefined if none did. */
  readonly versionNumber: number | undefined;
  /** Time of the outcome, in ms since the epoch. */
  readonly atMs: number;
  /** The request of a failed attempt and its answer. */
  readonly exchange?: { read(): Exchange } | undefined;
};

type KeptOutcome = Omit<Outcome, 'exchange'> & { readonly exchange: Exchange | undefined };

const reasonLengthMax = 500;

/**
 * Writes outcomes, at most one for each event and destination, for events in the view; a newer outcome in the view
 * stays. Returns the indexes in `outcomes` of those whose event is in the view. Like the events, outcomes are not
 * flushed to disk before this returns.
 */
function writeOutcomes(pool: Pool, outcomes: readonly KeptOutcome[]): Promise<ReadonlySet<number>> {
  const write = async (client: PoolClient): Promise<ReadonlySet<number>> => {
    const { rows } = await client.query<{ place: string }>({
      name: 'write-outcomes',
      text: statement,
      values: columns(outcomes),
    });
    return new Set(rows.map((row) => Number(row.place) - 1));
  };
  return inTransaction(pool, write, { isFlushed: false });
}

function columns(outcomes: readonly KeptOutcome[]): unknown[] {
  return [
    outcomes.map((outcome) => outcome.accountId),
    outcomes.map((outcome) => recentEventId(outcome.eventId) ?? ''),
    outcomes.map((outcome) => outcome.destinationId),
    outcomes.map((outcome) => outcome.outcome),
    outcomes.map((outcome) => cleanText(outcome.reason)?.slice(0, reasonLengthMax) ?? null),
    outcomes.map((outcome) => outcome.attempts),
    outcomes.map((outcome) => new Date(outcome.atMs).toISOString()),
    outcomes.map(originOf),
    outcomes.map((outcome) => outcome.versionNumber ?? null),
    outcomes.map(({ consent }) => (consent === undefined ? null : JSON.stringify(cleanJson({ consent })['consent']))),
    // A missing value is sent as a JSON null: the text that PostgreSQL splits into lines cannot hold an SQL null.
    jsonLines(outcomes.map(({ exchange }) => jsonOf(exchange && platformErrorOf(exchange)))),
    jsonLines(outcomes.map(({ exchange }) => jsonOf(exchange))),
  ];
}

const jsonOf = (value: object | undefined): string =>
  JSON.stringify(value === undefined ? null : cleanJson({ ...value }));

/** The origin as `readRecentEvent` computes it. */
function originOf({ sourceId, visitorId }: KeptOutcome): number {
  return recentEventOrigin({ sourceId: cleanText(sourceId) ?? '', visitorId: cleanText(visitorId) ?? '' });
}

// The events are locked, so that no event leaves the view between the search and the insert. An event of an earlier
// build, without an origin, gets the outcomes of all events with its id; if several arrive at once, the newest.
const statement = `
  with known as materialized (
    select k.account_id, k.event_id, e.origin, k.destination_id, k.outcome, k.reason, k.attempts, k.at, k.version_number, k.consent,
      nullif(k.answer, 'null'::jsonb) as answer, nullif(k.exchange, 'null'::jsonb) as exchange, k.place
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::int[],
        $9::int[], $10::jsonb[], ${jsonbOfLines('$11')}, ${jsonbOfLines('$12')})
      with ordinality as k (account_id, event_id, destination_id, outcome, reason, attempts, at, origin, version_number,
        consent, answer, exchange, place)
    join recent_events e on e.account_id = k.account_id and e.id = k.event_id and e.origin in (0, k.origin)
    order by k.account_id, k.event_id, e.origin, k.destination_id
    for key share of e
  ), written as (
    insert into event_outcomes as o
      (account_id, event_id, origin, destination_id, outcome, reason, attempts, at, version_number, consent, answer, exchange)
    select distinct on (account_id, event_id, origin, destination_id)
      account_id, event_id, origin, destination_id, outcome, reason, attempts, at, version_number, consent, answer, exchange
    from known order by account_id, event_id, origin, destination_id, at desc, attempts desc
    on conflict (account_id, event_id, origin, destination_id) do update
      set outcome = excluded.outcome, reason = excluded.reason, attempts = excluded.attempts, at = excluded.at,
        version_number = excluded.version_number, consent = excluded.consent, answer = excluded.answer,
        exchange = excluded.exchange
      where (o.at, o.attempts) <= (excluded.at, excluded.attempts)
  )
  select place from known`;
