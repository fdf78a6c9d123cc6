import { idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import { msgIdHeader, storedAt } from '../../../shared/nats/messages/subject-log.ts';
import { readMessages } from '../../../shared/nats/messages/read-messages.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { eventsOfPartition } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { oldestUnfinishedAtMs } from '../../../shared/nats/consume/unfinished-messages.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import { readCheckpoints } from './read-checkpoints.ts';
import type { ResolverContext } from './resolver-context.ts';

const messagesPerPull = 2_000;

export type Rebuilt = {
  /** Takes the ids of what is written from now on. */
  readonly checkpoints: CheckpointWriter;
  /** Frames of EVENTS that had to be read, since no checkpoint has their ids. */
  readonly frames: number;
  readonly tookMs: number;
};

/**
 * Fills an empty deduplication table with the events this partition has written already, so that a frame that is
 * delivered again after a crash adds only what it had not added: from the checkpoints, and what those do not have from
 * the headers of EVENTS. The window counts back from the oldest frame that waits, which may be older than now after a
 * long stop.
 */
export async function rebuildDeduplication(context: ResolverContext, consumer: DurableConsumer): Promise<Rebuilt> {
  const { connection, deduplication, settings, partition, logger, signal } = context;
  const startedMs = performance.now();
  // Its end as it is before anything is read: all up to there will have been.
  const events = await readStreamState(connection, streams.events);
  const read = await readCheckpoints(context, events);
  const { coveredTo, witness, held } = read;
  const checkpoints = new CheckpointWriter(context, { ...read, log: events.createdAt, coveredTo: coveredTo ?? 0 });
  const oldestMs = await oldestUnfinishedAtMs(connection, consumer);
  const sinceMs = Math.max(0, Math.min(oldestMs ?? Infinity, Date.now()) - settings.deduplication.windowMs);
  const frames = await readMessages(connection, {
    stream: streams.events,
    filterSubject: eventsOfPartition(partition),
    from: coveredTo === undefined ? { timeMs: sinceMs } : { seq: coveredTo + 1 },
    content: 'headers',
    messagesPerPull,
    silenceMaxMs: settings.rebuildSilenceMaxMs,
    signal,
    onMessage(message) {
      const ids = Buffer.from(message.header(idsHeader) ?? '', 'base64');
      const { seq, storedAtMs: timeMs } = message;
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
