import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { deleteMessage, readNext } from '../../../shared/nats/messages/subject-log.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import { queueEvents } from './queue-events.ts';
import type { ReplayedEvent } from './queue-events.ts';
import { ReplayEndedError, createReplayNotes } from './replay-notes.ts';
import type { ReplayNotes, ReplayNotesOptions } from './replay-notes.ts';
import { replaySourceOf } from './replay-source.ts';
import type { ReplaySource } from './replay-source.ts';

export type ReplayContext = ReplayNotesOptions & {
  readonly connection: LogConnection;
  /** The process ends. */
  readonly signal: AbortSignal;
};

/** Events, and messages without any, between two notes of progress. */
const eventsPerBatch = 256;
const scannedPerBatch = 500;

/**
 * Carries out a replay, from where it was left: reads its events and puts them before the destination's dispatcher in
 * the retry log, whose requests carry the ids they always had. Stopped in the middle it repeats at most one batch.
 * Returns when it is over, or not ours any more.
 */
export async function runReplay(context: ReplayContext, claimed: ReplayJob, revision: number): Promise<void> {
  const notes = createReplayNotes(context, claimed, revision);
  try {
    await work(context, notes);
  } catch (error) {
    if (!(error instanceof ReplayEndedError)) throw error;
  } finally {
    notes.stop();
  }
}

async function work({ connection, signal: stopping }: ReplayContext, notes: ReplayNotes): Promise<void> {
  const signal = AbortSignal.any([stopping, notes.ended]);
  const source = replaySourceOf(connection, notes.job);
  if (notes.job.nextSeq === undefined) {
    const { nextSeq, endSeq } = await source.range();
    await notes.put({ firstSeq: nextSeq, nextSeq, endSeq });
  }
  for (;;) {
    const { nextSeq = 1, endSeq = 0, scanned, queued } = notes.job;
    const batch = await collect(connection, source, { nextSeq, endSeq }, signal);
    if (batch.scanned === 0) break;
    await queueEvents(connection, notes.job, batch.events, signal);
    if (source.isConsumed) await removeAll(connection, source.stream, batch.events);
    const progress = { scanned: scanned + batch.scanned, queued: queued + batch.events.length };
    await notes.put({ ...progress, nextSeq: batch.nextSeq });
  }
  await notes.put({ state: 'done' });
}

type Range = { readonly nextSeq: number; readonly endSeq: number };
type Batch = { readonly events: readonly ReplayedEvent[]; readonly scanned: number; readonly nextSeq: number };

/** Reads on until there is enough for a write, or progress should be noted. */
async function collect(
  connection: LogConnection,
  source: ReplaySource,
  range: Range,
  signal: AbortSignal,
): Promise<Batch> {
  const events: ReplayedEvent[] = [];
  let { nextSeq } = range;
  let scanned = 0;
  while (events.length < eventsPerBatch && scanned < scannedPerBatch) {
    signal.throwIfAborted();
    const message = await readNext(connection, source.stream, source.subject, nextSeq);
    if (message === undefined || message.seq > range.endSeq) break;
    const wanted = source.events(message).filter(({ event }) => !event.test);
    events.push(...wanted.map((event) => ({ seq: message.seq, event })));
    scanned += 1;
    nextSeq = message.seq + 1;
  }
  return { events, scanned, nextSeq };
}

async function removeAll(connection: LogConnection, stream: string, events: readonly ReplayedEvent[]): Promise<void> {
  for (const seq of new Set(events.map((event) => event.seq))) await deleteMessage(connection, stream, seq);
}
