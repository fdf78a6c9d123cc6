import { settledNoteTier } from '../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { ConsumerProgress, StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { listConsumerProgress, readStreamLoss, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { countBySubject, readNext } from '../../../shared/nats/messages/subject-log.ts';
import { isIngestOfPartition } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { every } from '../../../shared/runtime/every.ts';
import type { ResolveLag } from './resolve-lag.ts';

/** Messages of the log that one reader has not finished. */
export type Backlog = {
  readonly frames: number;
  /** Estimate: the number of frames times the recent mean number of events per frame. */
  readonly events: number;
  /** When the oldest frame was stored, in ms since the epoch; undefined if there are no frames. */
  readonly oldestAtMs: number | undefined;
  readonly unacknowledged: number;
  readonly unacknowledgedMax: number;
};

/** The backlogs in the log, as of the last reading. Empty if another instance reads them, or without the log. */
export type BacklogWatch = {
  /** By consumer name. */
  readonly backlogs: ReadonlyMap<string, Backlog>;
  readonly streams: ReadonlyMap<string, StreamState>;
  /** Bytes that nats-server has found damaged or missing since it started, by stream. */
  readonly lostBytes: ReadonlyMap<string, number>;
  /** Numbers of frames in the retry log and of dead letters, by destination. */
  readonly retries: ReadonlyMap<string, number>;
  readonly deadLetters: ReadonlyMap<string, number>;
  /** How long the oldest event had waited to be resolved at the last reading, in ms. */
  readonly resolveLagMs: number | undefined;
  readonly looks: { readonly ok: number; readonly failed: number };
  stop(): Promise<void>;
};

export type BacklogWatchOptions = {
  readonly connection: LogConnection;
  readonly everyMs: number;
  /** Whether this instance reads the backlogs; one instance does so for all. */
  readonly owns: () => boolean;
  /**
   * Frames and events that each actor of this process has read since the actor started, by the name of its consumer.
   */
  readonly framesRead: () => Iterable<{ readonly consumer: string; readonly frames: number; readonly events: number }>;
  /** Receives after each reading how long the oldest event has waited to be resolved. */
  readonly resolveLag: ResolveLag;
  readonly logger: Logger;
};

const watched = [
  streams.ingest,
  streams.events,
  streams.retry,
  streams.deadLetters,
  streams.ingestDeadLetters,
  streams.deduplication,
];

/**
 * Reads the log itself at intervals rather than reports of its readers: the reader whose backlog matters most may hang
 * or not run, and would then report nothing.
 */
export function watchBacklog(options: BacklogWatchOptions): BacklogWatch {
  const { connection, everyMs, owns, framesRead, resolveLag, logger } = options;
  const eventsPerFrame = createEventsPerFrame();
  const readers = [streams.ingest, streams.events].map((stream) => ({
    stream,
    oldest: createOldestFrames(connection, stream),
  }));
  const lostBytes = createLostBytes({ connection, streams: watched, logger });
  const seen: Seen = { ...nothing(), looks: { ok: 0, failed: 0 } };
  const listOf = async ({ stream, oldest }: (typeof readers)[number]): Promise<readonly ConsumerProgress[]> => {
    const consumers = await listConsumerProgress(connection, stream);
    await oldest.look(consumers);
    return consumers;
  };
  const look = async (): Promise<void> => {
    for (const { consumer, frames, events } of framesRead()) eventsPerFrame.note(consumer, frames, events);
    const backlogs = new Map<string, Backlog>();
    const nowMs = Date.now();
    let lagMs = 0;
    // The log is asked for all streams at once, so that the thread wakes up once for the answers.
    const lists = await Promise.all(readers.map(async (reader) => ({ ...reader, consumers: await listOf(reader) })));
    for (const { stream, oldest, consumers } of lists) {
      for (const consumer of consumers) {
        const backlog = backlogOf(consumer, eventsPerFrame.of(consumer.name), oldest.of(consumer.name));
        backlogs.set(consumer.name, backlog);
        // The queues of accounts are not included: one account's queue does not show how long events of others wait.
        if (stream === streams.ingest && isIngestOfPartition(consumer.filterSubject))
          lagMs = Math.max(lagMs, nowMs - (backlog.oldestAtMs ?? nowMs));
      }
    }
    const [states, retries, deadLetters, lost] = await Promise.all([
      Promise.all(watched.map(async (stream) => [stream, await readStreamState(connection, stream)] as const)),
      countByDestination(connection, streams.retry, 'retry.*.*'),
      countByDestination(connection, streams.deadLetters, 'dead.*'),
      lostBytes.look(),
    ]);
    // All values are replaced together, so that a metrics page never mixes two readings.
    Object.assign(seen, {
      backlogs,
      streams: new Map(states),
      lostBytes: lost,
      retries,
      deadLetters,
      resolveLagMs: lagMs,
    });
    await resolveLag.note(lagMs, nowMs);
  };
  const work = async (): Promise<void> => {
    // Old backlogs would seem to grow older, and another instance may read them by now.
    if (!owns() || !connection.connected) {
      Object.assign(seen, nothing());
      return;
    }
    try {
      await look();
      seen.looks.ok += 1;
    } catch (error) {
      seen.looks.failed += 1;
      if (connection.connected) logger.warn({ err: error }, 'reading backlogs failed');
    }
  };
  const working = every(everyMs, work, { atOnce: true });
  return {
    get backlogs() {
      return seen.backlogs;
    },
    get streams() {
      return seen.streams;
    },
    get lostBytes() {
      return seen.lostBytes;
    },
    get retries() {
      return seen.retries;
    },
    get deadLetters() {
      return seen.deadLetters;
    },
    get resolveLagMs() {
      return seen.resolveLagMs;
    },
    looks: seen.looks,
    stop: () => working.stop(),
  };
}

type Look = Pick<BacklogWatch, 'backlogs' | 'streams' | 'lostBytes' | 'retries' | 'deadLetters' | 'resolveLagMs'>;
type Seen = Look & { readonly looks: { ok: number; failed: number } };

const nothing = (): Look => ({
  backlogs: new Map(),
  streams: new Map(),
  lostBytes: new Map(),
  retries: new Map(),
  deadLetters: new Map(),
  resolveLagMs: undefined,
});

function backlogOf(consumer: ConsumerProgress, eventsPerFrame: number, oldestAtMs: number | undefined): Backlog {
  const { waiting, unacknowledged, unacknowledgedMax } = consumer;
  const frames = waiting + unacknowledged;
  const events = Math.round(frames * eventsPerFrame);
  return { frames, events, oldestAtMs: frames === 0 ? undefined : oldestAtMs, unacknowledged, unacknowledgedMax };
}

/** Number of messages by the destination in their subject. */
async function countByDestination(
  connection: LogConnection,
  stream: string,
  filter: string,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [subject, messages] of await countBySubject(connection, stream, filter)) {
    const [, destinationId = '', tier] = subject.split('.');
    if (tier === String(settledNoteTier)) continue;
    counts.set(destinationId, (counts.get(destinationId) ?? 0) + messages);
  }
  return counts;
}

type LostBytesOptions = {
  readonly connection: LogConnection;
  readonly streams: readonly string[];
  readonly logger: Pick<Logger, 'error'>;
};

type LostBytes = {
  /** Bytes that the server has lost, by stream, as of its latest report. */
  look(): Promise<ReadonlyMap<string, number>>;
};

/** Interval, in ms. The server is also asked after a reconnect, because it finds damage when it starts or reads. */
const lostBytesEveryMs = 60_000;

/** Asks the server for lost bytes, and logs an increase. */
function createLostBytes({ connection, streams, logger }: LostBytesOptions): LostBytes {
  const found = new Map<string, number>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let reconnects = -1;
  return {
    async look() {
      if (connection.reconnects === reconnects && performance.now() - lookedAtMs < lostBytesEveryMs) return found;
      [reconnects, lookedAtMs] = [connection.reconnects, performance.now()];
      for (const stream of streams) {
        const loss = await readStreamLoss(connection, stream);
        if (loss === undefined) continue;
        const { bytes, seqs } = loss;
        if (bytes > (found.get(stream) ?? 0)) {
          logger.error({ stream, bytes, seqs: seqs.slice(0, 100) }, 'nats-server reported a damaged stream');
        }
        found.set(stream, bytes);
      }
      return new Map(found);
    },
  };
}

/** When the oldest unfinished frame of each consumer of a stream was stored. */
type OldestFrames = {
  /** Reads the oldest frame again for consumers that have acknowledged frames since the last reading. */
  look(consumers: readonly ConsumerProgress[]): Promise<void>;
  /** Time of the oldest waiting event, in ms since the epoch; undefined if none waits or it is not known yet. */
  of(consumer: string): number | undefined;
};

// Maximum number of consumers whose oldest frame is read in one check, since whole frames are read. Those read longest
// ago come first; the others keep their result.
const readsPerLook = 64;
const readsAtOnce = 8;

type Known = { readonly ackedSeq: number; readonly storedAtMs: number; readonly readAtMs: number };

function createOldestFrames(connection: LogConnection, stream: string): OldestFrames {
  const known = new Map<string, Known>();
  const read = async ({ name, filterSubject, ackedSeq }: ConsumerProgress): Promise<void> => {
    const oldest = await readNext(connection, stream, filterSubject, ackedSeq + 1);
    if (oldest === undefined) known.delete(name);
    else known.set(name, { ackedSeq, storedAtMs: oldest.storedAtMs, readAtMs: performance.now() });
  };
  return {
    of: (consumer) => known.get(consumer)?.storedAtMs,
    async look(consumers) {
      const behind = consumers.filter(({ waiting, unacknowledged }) => waiting + unacknowledged > 0);
      const names = new Set(behind.map(({ name }) => name));
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
      const due = behind
        .filter(({ name, ackedSeq }) => known.get(name)?.ackedSeq !== ackedSeq)
        .toSorted((a, b) => (known.get(a.name)?.readAtMs ?? 0) - (known.get(b.name)?.readAtMs ?? 0))
        .slice(0, readsPerLook);
      for (let at = 0; at < due.length; at += readsAtOnce) {
        await Promise.all(due.slice(at, at + readsAtOnce).map(read));
      }
    },
  };
}

/** Recent mean number of events per frame, by reader; for a reader that has read no frames, the mean of all readers. */
type EventsPerFrame = {
  /** Takes a reader's totals since it started; they begin at 0 again when the reader restarts. */
  note(reader: string, frames: number, events: number): void;
  of(reader: string): number;
};

/** Weight of the newest frames in a mean, 0 to 1. */
const newShare = 0.3;

type KnownRatio = { frames: number; events: number; mean: number };

export function createEventsPerFrame(): EventsPerFrame {
  const readers = new Map<string, KnownRatio>();
  let overall = 1;
  return {
    note(reader, frames, events) {
      const before = readers.get(reader);
      const isAnew = before === undefined || frames < before.frames;
      const newFrames = isAnew ? frames : frames - before.frames;
      const newEvents = isAnew ? events : events - before.events;
      if (newFrames <= 0) return;
      const mean = newEvents / newFrames;
      overall += (mean - overall) * newShare;
      readers.set(reader, { frames, events, mean: before === undefined ? mean : mix(before.mean, mean) });
    },
    of: (reader) => readers.get(reader)?.mean ?? overall,
  };
}

function mix(before: number, now: number): number {
  return before + (now - before) * newShare;
}
