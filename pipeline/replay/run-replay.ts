import { FrameWriter } from '../../shared/events/frame.ts';
import type { ResolvedEvent } from '../../shared/events/resolved-event.ts';
import { encodeRetryRecord, replayTier } from '../../shared/events/retry-record.ts';
import type { Bucket } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import { countBySubject, deleteMessage, readNext } from '../../shared/log/subject-log.ts';
import { retrySubject } from '../../shared/log/subjects.ts';
import { streams } from '../../shared/log/topology.ts';
import { decodeReplay, encodeReplay, replayKey } from '../../shared/replay/replay-job.ts';
import type { ReplayJob } from '../../shared/replay/replay-job.ts';
import { publishUntilStored } from '../dispatch/publish-until-stored.ts';
import { replaySourceOf } from './replay-source.ts';
import type { ReplaySource } from './replay-source.ts';

export type ReplayContext = {
  readonly connection: LogConnection;
  readonly bucket: Bucket;
  readonly instanceId: string;
  readonly signal: AbortSignal;
};

/** Frames of a replay before the destination at a time: the retry log is for everybody's retries. */
const framesWaitingMax = 16;
const frameBytesMax = 256 * 1024;
const roomEveryMs = 200;
/** Events, and messages without any, between two notes of progress. */
const eventsPerBatch = 256;
const scannedPerBatch = 500;

/**
 * Carries out a replay, from where it was left: reads its events and puts them before the destination's dispatcher in
 * the retry log, whose requests carry the ids they always had. Stopped in the middle it repeats at most one batch.
 * Returns when it is over, or was taken over or cancelled.
 */
export async function runReplay(context: ReplayContext, claimed: ReplayJob, revision: number): Promise<void> {
  const notes = createNotes(context, claimed, revision);
  const source = replaySourceOf(context.connection, claimed);
  const range = claimed.nextSeq === undefined ? await source.range() : {};
  if (!(await notes.put(range))) return;
  const end = notes.job.endSeq ?? 0;
  for (;;) {
    const batch = await collect(context, source, notes.job.nextSeq ?? 1, end);
    if (batch.scanned === 0) break;
    if (batch.events.length > 0) await queue(context, claimed, batch);
    if (source.isConsumed) for (const seq of batch.taken) await deleteMessage(context.connection, source.stream, seq);
    const { job } = notes;
    const progress = { scanned: job.scanned + batch.scanned, queued: job.queued + batch.events.length };
    if (!(await notes.put({ ...progress, nextSeq: batch.nextSeq }))) return;
  }
  await notes.put({ state: 'done' });
}

type Batch = {
  readonly events: readonly ResolvedEvent[];
  /** Messages the events are from. */
  readonly taken: readonly number[];
  readonly scanned: number;
  readonly firstSeq: number;
  readonly nextSeq: number;
};

/** Reads on until there is enough for a write, or progress should be noted. */
async function collect({ connection, signal }: ReplayContext, source: ReplaySource, from: number, end: number) {
  const events: ResolvedEvent[] = [];
  const taken: number[] = [];
  let scanned = 0;
  let nextSeq = from;
  while (events.length < eventsPerBatch && scanned < scannedPerBatch) {
    signal.throwIfAborted();
    const message = await readNext(connection, source.stream, source.subject, nextSeq);
    if (message === undefined || message.seq > end) break;
    const wanted = source.events(message).filter(({ event }) => !event.test);
    if (wanted.length > 0) taken.push(message.seq);
    events.push(...wanted);
    scanned += 1;
    nextSeq = message.seq + 1;
  }
  const batch: Batch = { events, taken, scanned, firstSeq: from, nextSeq };
  return batch;
}

/** Puts events before the destination. */
async function queue(context: ReplayContext, { id, destinationId }: ReplayJob, batch: Batch): Promise<void> {
  const { connection, signal } = context;
  const subject = retrySubject(destinationId, replayTier);
  const nowMs = Date.now();
  const times = { firstAttemptAt: nowMs, lastAttemptAt: nowMs, notBefore: nowMs };
  const lines = batch.events.map((event) =>
    encodeRetryRecord({ v: 1, attempts: 0, ...times, reason: 'replay', event }),
  );
  for (const [part, payload] of framesOf(lines).entries()) {
    await waitForRoom(context, subject);
    const msgId = `replay.${id}.${batch.firstSeq}.${part}`;
    await publishUntilStored(connection, subject, payload, { msgId, signal, onRetry: () => undefined });
  }
}

function framesOf(lines: readonly string[]): Uint8Array[] {
  const frames: Uint8Array[] = [];
  const writer = new FrameWriter();
  const close = (): void => {
    if (writer.length > 0) frames.push(writer.bytes());
    writer.reset();
  };
  for (const line of lines) {
    if (writer.length + line.length > frameBytesMax) close();
    writer.appendLine(line);
  }
  close();
  return frames;
}

async function waitForRoom({ connection, signal }: ReplayContext, subject: string): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const waiting = (await countBySubject(connection, streams.retry, subject)).get(subject) ?? 0;
    if (waiting < framesWaitingMax) return;
    await new Promise((resolve) => setTimeout(resolve, roomEveryMs));
  }
}

type Notes = {
  job: ReplayJob;
  /** Notes progress; false when the replay is not ours any more: cancelled, or taken over. */
  put(progress: Partial<ReplayJob>): Promise<boolean>;
};

function createNotes({ bucket, instanceId }: ReplayContext, claimed: ReplayJob, claimedRevision: number): Notes {
  const key = replayKey(claimed.destinationId, claimed.id);
  let revision = claimedRevision;
  const notes: Notes = {
    job: claimed,
    async put(progress) {
      notes.job = { ...notes.job, ...progress, updatedAtMs: Date.now() };
      const stored = await bucket.putIfUnchanged(key, encodeReplay(notes.job), revision);
      if (stored !== undefined) {
        revision = stored;
        return true;
      }
      const entry = await bucket.get(key);
      const other = decodeReplay(entry?.value);
      if (entry !== undefined && other?.state === 'cancelling' && other.owner === instanceId) {
        const cancelled: ReplayJob = { ...notes.job, state: 'cancelled' };
        await bucket.putIfUnchanged(key, encodeReplay(cancelled), entry.revision);
      }
      return false;
    },
  };
  return notes;
}
