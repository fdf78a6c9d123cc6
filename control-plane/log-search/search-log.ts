import { setTimeout as wait } from 'node:timers/promises';
import { clockSlackMs, decodeDeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import { platformErrorOf } from '../../shared/contracts/events/exchange.ts';
import type { PlatformError } from '../../shared/contracts/events/exchange.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { decodeRetryFrame, settledNoteTier } from '../../shared/contracts/events/retry-record.ts';
import {
  deadLetterSubject,
  dispatcherConsumer,
  eventsOfAccount,
  retriesOfDestination,
} from '../../shared/contracts/subjects.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { readNext } from '../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../shared/nats/messages/subject-log.ts';
import { findSeqAt } from '../../shared/nats/messages/find-seq-at.ts';
import { listConsumerProgress, readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import type { Beginning } from './read-beginning.ts';
import { matchFrame } from './match-frame.ts';
import type { LogMatch } from './match-frame.ts';

export type LogQuery = {
  readonly accountId: string;
  readonly match: LogMatch;
  /** When the events were resolved, in ms since the epoch. */
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
};

/** An event of the log and its outcome at each destination, by destination id. */
export type FoundEvent = {
  readonly event: ResolvedEvent;
  readonly seq: number;
  /** When the log stored it, in ms since the epoch. */
  readonly storedAtMs: number;
  readonly at: Map<string, LogOutcome>;
};

/**
 * The outcome of an event at a destination, as far as the log shows it. `passed`: the destination has finished the
 * event: it was delivered, or a rule stopped it; a replay may have sent it later. `before`: it is older than the
 * destination, which began at `sinceMs`.
 */
export type LogOutcome =
  | {
      readonly outcome: 'retrying' | 'rejected';
      readonly reason: string;
      readonly attempts: number;
      readonly atMs: number;
      readonly error?: PlatformError | undefined;
    }
  | { readonly outcome: 'before'; readonly sinceMs: number }
  | { readonly outcome: 'passed'; readonly isReplayed: boolean }
  | { readonly outcome: 'waiting' | 'unknown' };

export type LogProgress = {
  readonly phase: 'events' | 'retries' | 'dead letters';
  /** Progress of this phase, from 0 to 1. */
  readonly share: number;
  readonly messages: number;
  readonly found: readonly FoundEvent[];
};

export type SearchContext = {
  readonly connection: LogConnection;
  readonly signal: AbortSignal;
  /** Events of erased visitors are left out of the result. */
  isErased(event: ResolvedEvent): boolean;
  beginningOf(destinationId: string): Promise<Beginning>;
  onProgress(progress: LogProgress): void;
};

/** Maximum number of events that one search finds. */
export const foundMax = 100;
/** Rate limit of a search, so that delivery stays fast. A search reads one message after another. */
const bytesPerMs = 32 * 1024;
/** Maximum size of the retries and dead letters that a search reads for the outcomes of the events found. */
const outcomeBytesMax = 256 * 1024 ** 2;

/**
 * Searches the log for events, oldest first, and then retries and dead letters for their outcomes at the named
 * destinations. Returns whether the result is complete.
 */
export async function searchLog(
  context: SearchContext,
  query: LogQuery,
  destinationIds: readonly string[],
): Promise<{ readonly found: readonly FoundEvent[]; readonly isComplete: boolean }> {
  const found: FoundEvent[] = [];
  const reader = new PacedReader(context, found);
  const { match, accountId, fromMs, toMs } = query;
  const { connection } = context;
  const { firstSeq, lastSeq } = await readStreamState(connection, streams.events);
  const range = {
    fromSeq: fromMs === undefined ? firstSeq : await findSeqAt(connection, streams.events, fromMs),
    endSeq: toMs === undefined ? lastSeq : (await findSeqAt(connection, streams.events, toMs)) - 1,
  };
  const isWhole = await reader.read(
    'events',
    streams.events,
    eventsOfAccount(accountId),
    range,
    ({ seq, storedAtMs, data }) => {
      for (const { event } of matchFrame(data, match)) {
        if (found.length < foundMax && !context.isErased(event)) found.push({ event, seq, storedAtMs, at: new Map() });
      }
      return found.length < foundMax;
    },
  );
  if (found.length > 0) await findOutcomes(context, reader, found, destinationIds);
  return { found, isComplete: isWhole };
}

async function findOutcomes(
  { connection, beginningOf }: SearchContext,
  reader: PacedReader,
  found: readonly FoundEvent[],
  destinationIds: readonly string[],
): Promise<void> {
  const progress = await listConsumerProgress(connection, streams.events);
  const ackedSeqs = new Map(progress.map(({ name, ackedSeq }) => [name, ackedSeq]));
  const byEvent = new Map<string, FoundEvent[]>();
  for (const one of found) byEvent.set(one.event.event.id, [...(byEvent.get(one.event.event.id) ?? []), one]);
  const of = (eventId: string, visitorId: string): readonly FoundEvent[] =>
    byEvent.get(eventId)?.filter(({ event }) => event.visitor.id === visitorId) ?? [];
  const earliestMs = Math.min(...found.map(({ event }) => event.event.received_at));
  const retries = await readStreamState(connection, streams.retry);
  const letters = await readStreamState(connection, streams.deadLetters);
  const lettersFrom = await findSeqAt(connection, streams.deadLetters, Math.max(0, earliestMs - clockSlackMs));
  reader.limit(outcomeBytesMax);
  for (const id of destinationIds) {
    const isRetried = await reader.read(
      'retries',
      streams.retry,
      retriesOfDestination(id),
      { fromSeq: retries.firstSeq, endSeq: retries.lastSeq, readsOn: true },
      (message) => {
        for (const { eventId, visitorId, reason, attempts, lastAttemptAt: atMs } of recordsOf(message)) {
          for (const one of of(eventId, visitorId)) one.at.set(id, { outcome: 'retrying', reason, attempts, atMs });
        }
        return true;
      },
    );
    const isBuried = await reader.read(
      'dead letters',
      streams.deadLetters,
      deadLetterSubject(id),
      { fromSeq: lettersFrom, endSeq: letters.lastSeq, readsOn: true },
      ({ data }) => {
        const letter = decodeDeadLetter(data);
        if (letter === undefined) return true;
        const { reason, attempts, lastAttemptAt: atMs, exchange } = letter;
        const error = exchange && platformErrorOf(exchange);
        for (const one of of(letter.event.event.id, letter.event.visitor.id)) {
          one.at.set(id, { outcome: 'rejected', reason, attempts, atMs, error });
        }
        return true;
      },
    );
    const ackedSeq = ackedSeqs.get(dispatcherConsumer(id));
    const beginning = await beginningOf(id);
    for (const one of found) {
      if (one.at.has(id)) continue;
      const isPast = ackedSeq !== undefined && one.seq <= ackedSeq;
      const isReplayed = beginning.isReplayed(one.storedAtMs);
      if (beginning.sinceMs !== undefined && one.storedAtMs < beginning.sinceMs) {
        const { sinceMs, isLost } = beginning;
        one.at.set(id, isLost || isReplayed ? { outcome: 'unknown' } : { outcome: 'before', sinceMs });
      } else if (!isPast) one.at.set(id, { outcome: 'waiting' });
      else one.at.set(id, isRetried && isBuried ? { outcome: 'passed', isReplayed } : { outcome: 'unknown' });
    }
  }
}

function recordsOf({ subject, data }: StoredMessage): ReturnType<typeof decodeRetryFrame> {
  if (subject.endsWith(`.${settledNoteTier}`)) return [];
  try {
    return decodeRetryFrame(data);
  } catch {
    // A later build wrote this frame: its events stay without an outcome.
    return [];
  }
}

type ReadRange = {
  readonly fromSeq: number;
  readonly endSeq: number;
  /** Whether messages after `endSeq` are read too: each attempt moves an event to a later sequence. */
  readonly readsOn?: boolean;
};

/** Reads subjects message by message at a limited rate, and reports its progress. */
class PacedReader {
  readonly #context: SearchContext;
  readonly #found: readonly FoundEvent[];
  #messages = 0;
  #bytesLeft = Number.POSITIVE_INFINITY;

  constructor(context: SearchContext, found: readonly FoundEvent[]) {
    this.#context = context;
    this.#found = found;
  }

  limit(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  /** Returns whether it reached the end: false if `take` returned false or the limit was reached. */
  async read(
    phase: LogProgress['phase'],
    stream: string,
    subject: string,
    { fromSeq, endSeq, readsOn = false }: ReadRange,
    take: (message: StoredMessage) => boolean,
  ): Promise<boolean> {
    const { connection, signal, onProgress } = this.#context;
    for (let seq = fromSeq; ;) {
      signal.throwIfAborted();
      if (this.#bytesLeft <= 0) return false;
      const message = await readNext(connection, stream, subject, seq);
      if (message === undefined || (message.seq > endSeq && !readsOn)) return true;
      const goesOn = take(message);
      this.#messages += 1;
      this.#bytesLeft -= message.data.length;
      seq = message.seq + 1;
      const share = Math.min(1, (message.seq - fromSeq + 1) / Math.max(1, endSeq - fromSeq + 1));
      onProgress({ phase, share, messages: this.#messages, found: this.#found });
      if (!goesOn) return false;
      await wait(message.data.length / bytesPerMs, undefined, { signal });
    }
  }
}
