import { settledNoteTier } from '../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { listConsumerProgress, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import type { ConsumerProgress, StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { createEventsPerFrame } from './events-per-frame.ts';
import { createLostBytes } from './lost-bytes.ts';
import { createOldestFrames } from './oldest-frames.ts';

/** What one reader of the log has not finished. */
export type Backlog = {
  readonly frames: number;
  /** About: its frames times the recent average of events a frame. */
  readonly events: number;
  /** When the oldest of them was stored, in ms since the epoch; undefined without one. */
  readonly oldestAtMs: number | undefined;
  readonly unacknowledged: number;
  readonly unacknowledgedMax: number;
};

/** What waits in the log, as it was last looked at. All empty in an instance another one looks for. */
export type BacklogWatch = {
  /** By the name of the consumer. */
  readonly backlogs: ReadonlyMap<string, Backlog>;
  readonly streams: ReadonlyMap<string, StreamState>;
  /** What nats-server has found damaged or missing since it started, by stream. */
  readonly lostBytes: ReadonlyMap<string, number>;
  /** Frames of the retry log, and dead letters, by destination. */
  readonly retries: ReadonlyMap<string, number>;
  readonly deadLetters: ReadonlyMap<string, number>;
  readonly looks: { readonly ok: number; readonly failed: number };
  stop(): Promise<void>;
};

export type BacklogWatchOptions = {
  readonly connection: LogConnection;
  readonly everyMs: number;
  /** Whether this is the instance that looks: one does, for all. */
  readonly owns: () => boolean;
  /** Frames and events each actor of this process has read since it started, by the name of its consumer. */
  readonly framesRead: () => Iterable<{ readonly consumer: string; readonly frames: number; readonly events: number }>;
  readonly logger: Logger;
};

const watched = [streams.ingest, streams.events, streams.retry, streams.deadLetters, streams.deduplication];

/**
 * Looks at the log itself again and again, not at what its readers say: a reader that hangs, or that nobody runs, is the
 * one whose backlog matters.
 */
export function watchBacklog({ connection, everyMs, owns, framesRead, logger }: BacklogWatchOptions): BacklogWatch {
  const eventsPerFrame = createEventsPerFrame();
  const readers = [streams.ingest, streams.events].map((stream) => ({
    stream,
    oldest: createOldestFrames(connection, stream),
  }));
  const lostBytes = createLostBytes({ connection, streams: watched, logger });
  const seen: Seen = { ...nothing(), looks: { ok: 0, failed: 0 } };
  const look = async (): Promise<void> => {
    for (const { consumer, frames, events } of framesRead()) eventsPerFrame.note(consumer, frames, events);
    const backlogs = new Map<string, Backlog>();
    for (const { stream, oldest } of readers) {
      const consumers = await listConsumerProgress(connection, stream);
      await oldest.look(consumers);
      for (const consumer of consumers) {
        backlogs.set(consumer.name, backlogOf(consumer, eventsPerFrame.of(consumer.name), oldest.of(consumer.name)));
      }
    }
    const states = new Map<string, StreamState>();
    for (const stream of watched) states.set(stream, await readStreamState(connection, stream));
    const retries = await countByDestination(connection, streams.retry, 'retry.*.*');
    const deadLetters = await countByDestination(connection, streams.deadLetters, 'dead.*');
    // All at once: a page shows one look, not the middle of the next.
    Object.assign(seen, { backlogs, streams: states, lostBytes: await lostBytes.look(), retries, deadLetters });
  };
  const work = async (): Promise<void> => {
    if (!owns()) {
      Object.assign(seen, nothing());
      return;
    }
    if (!connection.connected) return;
    try {
      await look();
      seen.looks.ok += 1;
    } catch (error) {
      seen.looks.failed += 1;
      if (connection.connected) logger.warn({ err: error }, 'looking for backlogs in the log failed');
    }
  };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    await work();
    if (!stopped) timer = setTimeout(start, everyMs);
  };
  let working: Promise<void> = Promise.resolve();
  const start = (): void => {
    working = run();
  };
  start();
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
    looks: seen.looks,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };
}

type Maps = Pick<BacklogWatch, 'backlogs' | 'streams' | 'lostBytes' | 'retries' | 'deadLetters'>;
type Seen = Maps & { readonly looks: { ok: number; failed: number } };

const nothing = (): Maps => ({
  backlogs: new Map(),
  streams: new Map(),
  lostBytes: new Map(),
  retries: new Map(),
  deadLetters: new Map(),
});

function backlogOf(consumer: ConsumerProgress, eventsPerFrame: number, oldestAtMs: number | undefined): Backlog {
  const { waiting, unacknowledged, unacknowledgedMax } = consumer;
  const frames = waiting + unacknowledged;
  const events = Math.round(frames * eventsPerFrame);
  return { frames, events, oldestAtMs: frames === 0 ? undefined : oldestAtMs, unacknowledged, unacknowledgedMax };
}

/** Messages by the destination in their subject. */
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
