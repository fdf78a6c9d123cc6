import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import type { ConsumerProgress, StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { findSeqAt, listConsumerProgress, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { eventsOfAccount } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

export type RetentionSettings = {
  readonly everyMs: number;
  /** Resolved events are kept this long for replay, in ms, while there is room. */
  readonly historyMs: number;
  readonly marks: WaterMarks;
};

export type Retention = {
  /** Messages removed since the start, by stream. */
  readonly removed: ReadonlyMap<string, number>;
  /** Newest state of each stream it looks after. */
  readonly states: ReadonlyMap<string, StreamState>;
  stop(): Promise<void>;
};

type StreamEnd = { readonly lastSeq: number; readonly atMs: number };
const noEnd: StreamEnd = { lastSeq: 0, atMs: -Infinity };
/** After this long the server has told every consumer of a message that was stored, in ms. */
const settledMs = 1_000;

/** Looking up an age is asked of the server rarely: history is counted in days. */
const ageEveryMs = 600_000;

/**
 * Makes room in the log: of INGEST what its resolver has finished, of EVENTS what every destination of the account
 * has finished and is too old, or in the way. What somebody has not finished stays, however full the log is.
 */
export function startRetention(connection: LogConnection, settings: RetentionSettings, logger: Logger): Retention {
  const removed = new Map<string, number>();
  const states = new Map<string, StreamState>();
  let agedSeq = 0;
  let agedAtMs = -Infinity;
  let triedFrom = 0;
  // The end of EVENTS as it was at least once `settledMs` ago, and as it was later.
  let ends: readonly [StreamEnd, StreamEnd] = [noEnd, noEnd];

  const remove = async (stream: string, subject: string, beforeSeq: number): Promise<void> => {
    const purged = await purgeSubject(connection, stream, subject, beforeSeq);
    removed.set(stream, (removed.get(stream) ?? 0) + purged);
  };

  const cleanIngest = async (): Promise<void> => {
    const state = await readStreamState(connection, streams.ingest);
    states.set(streams.ingest, state);
    if (state.messages === 0) return;
    for (const [subject, consumers] of bySubject(await listConsumerProgress(connection, streams.ingest))) {
      const finished = finishedSeq(consumers, 0);
      if (finished !== undefined && finished >= state.firstSeq) await remove(streams.ingest, subject, finished + 1);
    }
  };

  const cleanEvents = async (): Promise<void> => {
    const state = await readStreamState(connection, streams.events);
    states.set(streams.events, state);
    if (performance.now() - ends[1].atMs > settledMs) {
      ends = [ends[1], { lastSeq: state.lastSeq, atMs: performance.now() }];
    }
    if (state.messages === 0) return;
    if (performance.now() - agedAtMs > ageEveryMs) {
      agedSeq = await findSeqAt(connection, streams.events, Date.now() - settings.historyMs);
      agedAtMs = performance.now();
    }
    const bySize = keepFromBySize(state, settings.marks, triedFrom);
    triedFrom = bySize > state.firstSeq ? bySize : 0;
    const keepFrom = Math.max(agedSeq, bySize);
    if (keepFrom <= state.firstSeq) return;
    const readers = bySubject(await listConsumerProgress(connection, streams.events));
    const settledSeq = ends[0].lastSeq;
    for (const subject of await accountSubjects(connection)) {
      const finished = finishedSeq(readers.get(subject) ?? [], settledSeq);
      const before = finished === undefined ? keepFrom : Math.min(keepFrom, finished + 1);
      if (before > state.firstSeq) await remove(streams.events, subject, before);
    }
  };

  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (const clean of [cleanIngest, cleanEvents]) {
      try {
        await clean();
      } catch (error) {
        if (connection.connected) logger.warn({ err: error }, 'making room in the log failed');
      }
    }
  };
  const timer = setInterval(() => {
    if (working !== undefined || !connection.connected) return;
    working = work().finally(() => {
      working = undefined;
    });
  }, settings.everyMs);
  return {
    removed,
    states,
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}

async function accountSubjects(connection: LogConnection): Promise<Set<string>> {
  const subjects = await countBySubject(connection, streams.events, 'events.*.*');
  return new Set([...subjects.keys()].map((subject) => eventsOfAccount(subject.split('.')[1] ?? '')));
}

function bySubject(consumers: readonly ConsumerProgress[]): Map<string, ConsumerProgress[]> {
  const groups = new Map<string, ConsumerProgress[]>();
  for (const consumer of consumers) {
    const group = groups.get(consumer.filterSubject);
    if (group === undefined) groups.set(consumer.filterSubject, [consumer]);
    else group.push(consumer);
  }
  return groups;
}

/** Share of a stream's limit above which history goes, and the share it is brought down to. */
type WaterMarks = { readonly high: number; readonly low: number };

/**
 * Up to which sequence everything that read a subject is done with it: the least of its consumers. Undefined without
 * any. What they acknowledged is certain; that nothing waits for one is said a moment late, when a message has just been
 * stored. So one that never acknowledged anything, and has nothing to, is done up to `settledSeq` only: the end of the
 * stream a while ago.
 */
export function finishedSeq(
  consumers: readonly Pick<ConsumerProgress, 'ackedSeq' | 'waiting' | 'unacknowledged'>[],
  settledSeq: number,
): number | undefined {
  if (consumers.length === 0) return undefined;
  return Math.min(
    ...consumers.map(({ ackedSeq, waiting, unacknowledged }) =>
      ackedSeq === 0 && waiting + unacknowledged === 0 ? settledSeq : ackedSeq,
    ),
  );
}

/**
 * The first sequence to keep so that a stream above its high mark comes down to the low one; messages count alike.
 * `triedFrom` is what the time before said: where that did not bring it down, since somebody has not finished with what
 * lies there, younger history has to go.
 */
export function keepFromBySize(
  state: Omit<StreamState, 'createdAt'>,
  { high, low }: WaterMarks,
  triedFrom: number,
): number {
  if (state.bytesMax === undefined || state.messages === 0 || state.bytes <= state.bytesMax * high)
    return state.firstSeq;
  const share = (state.bytes - state.bytesMax * low) / state.bytes;
  const from = Math.max(state.firstSeq, triedFrom);
  return from + Math.ceil(share * (state.lastSeq - from + 1));
}
