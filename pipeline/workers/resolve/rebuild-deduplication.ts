import { bytesPerHash, idsHeader, ungroupedIdsHeader } from '../../../shared/contracts/events/event-hash.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import {
  deleteMessage,
  msgIdHeader,
  purgeSubject,
  readLast,
  storedAt,
} from '../../../shared/nats/messages/subject-log.ts';
import { findSeqAt } from '../../../shared/nats/messages/find-seq-at.ts';
import { readMessages } from '../../../shared/nats/messages/read-messages.ts';
import type { StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { deduplicationSubject, eventsOfPartition } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { oldestUnfinishedAtMs } from '../../../shared/nats/consume/unfinished-messages.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import type { HeldCheckpoint } from './held-checkpoints.ts';
import { isLost } from './partition-writer.ts';
import type { ResolverContext } from './resolver-context.ts';
import { reportLoss } from '../../../shared/nats/messages/lost-messages.ts';
import { isNotFound } from '../../../shared/nats/connection/server-error.ts';
import type { CheckpointHead, IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { checkpointHeader, decodeRuns, parseCheckpointHead } from '../../../shared/contracts/events/checkpoint.ts';

const messagesPerPull = 2_000;

export type Rebuilt = {
  /** Writes checkpoints with the ids of frames that are stored from now on. */
  readonly checkpoints: CheckpointWriter;
  /** Number of frames of EVENTS that had to be read, because no checkpoint has their ids. */
  readonly frames: number;
  readonly tookMs: number;
};

/**
 * Fills an empty deduplication table with the ids of events that this partition has written, so that a frame
 * redelivered after a crash adds only its missing events. The ids come from the checkpoints, and later ones from the
 * headers of EVENTS. The window counts back from the oldest waiting frame, which may be old after a long stop.
 */
export async function rebuildDeduplication(context: ResolverContext, consumer: DurableConsumer): Promise<Rebuilt> {
  const { connection, deduplication, settings, partition, logger, signal } = context;
  const startedMs = performance.now();
  // The end of EVENTS before it is read: the reading will reach at least this end.
  const events = await readStreamState(connection, streams.events);
  const read = await readCheckpoints(context, events);
  const { coveredTo, witness, held } = read;
  const checkpoints = new CheckpointWriter(context, { ...read, log: events.createdAt, coveredTo: coveredTo ?? 0 });
  const oldestMs = await oldestUnfinishedAtMs(connection, consumer);
  const sinceMs = Math.max(0, Math.min(oldestMs ?? Infinity, Date.now()) - settings.deduplication.windowMs);
  const firstSeq = coveredTo === undefined ? await findSeqAt(connection, streams.events, sinceMs) : coveredTo + 1;
  const frames = await readMessages(connection, {
    stream: streams.events,
    filterSubject: eventsOfPartition(partition),
    from: { seq: firstSeq, toSeq: events.lastSeq },
    content: 'headers',
    messagesPerPull,
    silenceMaxMs: settings.rebuildSilenceMaxMs,
    signal,
    onMessage(message) {
      const { seq, storedAtMs: timeMs } = message;
      const ungrouped = message.header(ungroupedIdsHeader);
      if (ungrouped !== undefined) deduplication.noteUngrouped(timeMs);
      const ids = Buffer.from(ungrouped ?? message.header(idsHeader) ?? '', 'base64');
      deduplication.addPacked({ ids, timeMs });
      checkpoints.note({ seq, msgId: message.header(msgIdHeader) ?? '', ids, timeMs });
    },
  });
  const end = await storedAt(connection, streams.events, events.lastSeq);
  await checkpoints.take(events.lastSeq, end ?? witness);
  const tookMs = Math.round(performance.now() - startedMs);
  const ids = deduplication.size;
  logger.info({ partition, checkpoints: held.length, frames, ids, tookMs }, 'deduplication rebuilt');
  return { checkpoints, frames, tookMs };
}

/** What was read from a partition's checkpoints. */
type ReadCheckpoints = {
  /** The checkpoints contain the partition's ids up to this sequence of EVENTS; undefined if they cannot be used. */
  readonly coveredTo: number | undefined;
  readonly witness: CheckpointHead['witness'];
  readonly held: readonly HeldCheckpoint[];
  /** Sequence of the newest remaining checkpoint; 0 if there is none. */
  readonly lastSeq: number;
};

const nothing: ReadCheckpoints = { coveredTo: undefined, witness: undefined, held: [], lastSeq: 0 };

/** About 8 MiB at the default size of a checkpoint. */
const checkpointsPerPull = 32;
/**
 * Maximum number of ids recorded at once. Recording that many blocks the thread for about 100 ms, and needs 20 bytes
 * per id.
 */
const idsAtOnce = 2_000_000;

/** Checkpoints that do not match EVENTS could not be removed. */
class CheckpointsNotRemovedError extends Error {
  readonly code = 'checkpoints_not_removed';
}

/**
 * Fills an empty deduplication table from the checkpoints of a partition, as far as EVENTS still has their events. The
 * table must not contain an id whose event the log has lost: a later event with that id would be dropped as a
 * duplicate. So checkpoints are used only up to the newest one whose witness exists, and only while each follows its
 * predecessor. The others are removed.
 */
async function readCheckpoints(context: ResolverContext, events: StreamState): Promise<ReadCheckpoints> {
  try {
    const newest = await newestIntact(context, events);
    if (newest === undefined) return nothing;
    const { first = newest.seq, windowMs, idsMax } = newest.head;
    const { deduplication } = context.settings;
    // If the table's window or size was increased, the table is filled from EVENTS, and new checkpoints are written.
    const isEnough = windowMs >= deduplication.windowMs && idsMax >= deduplication.idsMax;
    if (isEnough) context.deduplication.reserve(newest.head.ids);
    const read = isEnough ? await readChain(context, events, first) : nothing;
    if (read.lastSeq !== newest.seq) await removeAfter(context, read.lastSeq);
    return read;
  } catch (error) {
    if (isNotFound(error)) return nothing;
    if (!(error instanceof CheckpointsNotRemovedError)) throw error;
    const { logger, partition } = context;
    logger.warn(
      { partition, err: error },
      'checkpoints that do not fit EVENTS were not removed; reading EVENTS instead',
    );
    // The next checkpoint begins a new chain after the checkpoints that are left.
    return { ...nothing, lastSeq: (await lastCheckpoint(context))?.seq ?? 0 };
  }
}

type Found = { readonly seq: number; readonly head: CheckpointHead };

/** Removes checkpoints whose witness is lost. If one is intact, so are all earlier ones: a log loses only its end. */
async function newestIntact(context: ResolverContext, events: StreamState): Promise<Found | undefined> {
  const { connection, partition, logger, counts } = context;
  let lostSeq: number | undefined;
  try {
    for (;;) {
      const last = await lastCheckpoint(context);
      if (last === undefined) return undefined;
      const { seq, head } = last;
      if (head !== undefined && head.log !== events.createdAt) {
        logger.warn({ partition }, 'EVENTS was created again; removing its checkpoints');
        await removeAll(context);
        return undefined;
      }
      if (head !== undefined) {
        const { to, witness } = head;
        const hasLost = to > events.lastSeq || (witness !== undefined && (await isLost(connection, witness, events)));
        if (!hasLost) return { seq, head };
        lostSeq ??= witness?.seq;
      }
      await remove(context, seq);
    }
  } finally {
    if (lostSeq !== undefined) {
      counts.lost_frames += 1;
      const lost = { stream: streams.events, subject: eventsOfPartition(partition), seq: lostSeq };
      reportLoss({ connection, logger, fields: { partition } }, lost);
    }
  }
}

const remove = ({ connection }: ResolverContext, seq: number): Promise<void> =>
  removing(deleteMessage(connection, streams.deduplication, seq));

const removeAll = ({ connection, partition }: ResolverContext): Promise<void> =>
  removing(purgeSubject(connection, streams.deduplication, deduplicationSubject(partition)));

async function removing(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    throw new CheckpointsNotRemovedError('removing checkpoints', { cause: error });
  }
}

async function lastCheckpoint(
  context: ResolverContext,
): Promise<{ readonly seq: number; readonly head: CheckpointHead | undefined } | undefined> {
  const { connection, partition } = context;
  const last = await readLast(connection, streams.deduplication, deduplicationSubject(partition));
  return last && { seq: last.seq, head: parseCheckpointHead(last.header(checkpointHeader) ?? '') };
}

/** Reads checkpoints from `first` on, as long as each follows the previous one. */
async function readChain(context: ResolverContext, events: StreamState, first: number): Promise<ReadCheckpoints> {
  const { connection, deduplication, partition, settings, signal } = context;
  const held: HeldCheckpoint[] = [];
  let last: CheckpointHead | undefined;
  let runsRead: IdRun[] = [];
  let idsRead = 0;
  const fill = (): void => {
    deduplication.addRuns(runsRead);
    runsRead = [];
    idsRead = 0;
  };
  await readMessages(connection, {
    stream: streams.deduplication,
    filterSubject: deduplicationSubject(partition),
    from: { seq: first },
    content: 'all',
    messagesPerPull: checkpointsPerPull,
    silenceMaxMs: settings.rebuildSilenceMaxMs,
    signal,
    onMessage({ seq, data, header }) {
      const head = parseCheckpointHead(header(checkpointHeader));
      const runs = decodeRuns(data);
      const follows = last === undefined ? seq === first : head !== undefined && head.from <= last.to + 1;
      if (head === undefined || runs === undefined || head.log !== events.createdAt || !follows) return false;
      const ids = runs.reduce((sum, run) => sum + run.ids.length / bytesPerHash, 0);
      const timeMs = runs.at(-1)?.timeMs ?? held.at(-1)?.timeMs ?? 0;
      held.push({ seq, ids, timeMs });
      deduplication.noteUngrouped(head.ungroupedUntilMs ?? timeMs);
      last = head;
      runsRead.push(...runs);
      idsRead += ids;
      if (idsRead >= idsAtOnce) fill();
      return true;
    },
  });
  fill();
  if (last === undefined) return nothing;
  return { coveredTo: last.to, witness: last.witness, held, lastSeq: held.at(-1)?.seq ?? 0 };
}

/** Removes the checkpoints after `seq`: outside of the chain, they would separate it from the next checkpoint. */
async function removeAfter(context: ResolverContext, seq: number): Promise<void> {
  const { partition, logger } = context;
  logger.warn({ partition }, 'checkpoints are missing; reading EVENTS instead');
  if (seq === 0) {
    await removeAll(context);
    return;
  }
  for (let last = await lastCheckpoint(context); last !== undefined && last.seq > seq;) {
    await remove(context, last.seq);
    last = await lastCheckpoint(context);
  }
}
