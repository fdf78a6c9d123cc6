import { idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import { predecessorHeader } from '../../../shared/nats/messages/predecessors.ts';
import { batchMessagesMax, batchMessagesMin, publishBatch } from '../../../shared/nats/publish/publish-batch.ts';
import type { OutgoingMessage } from '../../../shared/nats/publish/publisher.ts';
import { PublishError, publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../../shared/contracts/subjects.ts';
import { isWorthTelling } from '../../../shared/runtime/retry.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import type { ResolverContext } from './resolver-context.ts';

/** A frame of resolved events that is in the log. */
export type WrittenFrame = Pick<OutgoingFrame, 'accountId' | 'lines' | 'ids' | 'msgId'> & {
  /** Its sequence in EVENTS. */
  readonly seq: number;
};

const accountsAtOnceMax = 16;

/**
 * Writes resolved frames to the logs of their accounts: one after the other within an account, several accounts at once.
 * Where there are many accounts, the first frames of all of them are one batch. Returns them in the order of the log.
 */
export async function publishFrames(
  context: ResolverContext,
  frames: readonly OutgoingFrame[],
): Promise<readonly WrittenFrame[]> {
  const accounts = new Map<string, OutgoingFrame[]>();
  for (const frame of frames) {
    const row = accounts.get(frame.accountId);
    if (row === undefined) accounts.set(frame.accountId, [frame]);
    else row.push(frame);
  }
  const written: WrittenFrame[] = [];
  const together = [...accounts.values()];
  while (together.length >= batchMessagesMin) {
    const rows = together.splice(0, batchMessagesMax);
    const stored = await publishTogether(
      context,
      rows.flatMap(([head]) => head ?? []),
    );
    if (stored === undefined) continue;
    written.push(...stored);
    for (const row of rows) row.shift();
  }
  const rows = accounts.values();
  const work = async (): Promise<void> => {
    for (const row of rows) for (const frame of row) written.push(await publishFrame(context, frame));
  };
  await Promise.all(Array.from({ length: Math.min(accountsAtOnceMax, accounts.size) }, work));
  return written.toSorted((a, b) => a.seq - b.seq);
}

/**
 * One try to store frames of as many accounts as a batch. Undefined when it failed: what it may have stored all the same
 * is published by itself then, and the ids say what is there already.
 */
async function publishTogether(
  context: ResolverContext,
  frames: readonly OutgoingFrame[],
): Promise<WrittenFrame[] | undefined> {
  try {
    const messages = frames.map((frame) => messageOf(context, frame));
    const seqs = await publishBatch(context.connection, messages, context.settings.publishTimeoutMs);
    return frames.flatMap((frame, index) => {
      const seq = seqs[index];
      return seq === undefined ? [] : noteWritten(context, frame, seq);
    });
  } catch (error) {
    if (!(error instanceof PublishError)) throw error;
    context.counts.publish_retries += 1;
    return undefined;
  }
}

async function publishFrame(context: ResolverContext, frame: OutgoingFrame): Promise<WrittenFrame> {
  return noteWritten(context, frame, await publishOutput(context, messageOf(context, frame)));
}

function messageOf({ partition, predecessors }: ResolverContext, frame: OutgoingFrame): OutgoingMessage {
  const subject = eventsSubject(frame.accountId, partition);
  return {
    subject,
    payload: frame.payload,
    msgId: frame.msgId,
    headers: { [idsHeader]: frame.ids, [predecessorHeader]: predecessors.next(subject) },
  };
}

function noteWritten(
  { partition, predecessors, counts }: ResolverContext,
  frame: OutgoingFrame,
  seq: number,
): WrittenFrame {
  predecessors.stored(eventsSubject(frame.accountId, partition), seq);
  counts.output_frames += 1;
  counts.output_bytes += frame.lines.length;
  counts.output_bytes_stored += frame.payload.length;
  counts.resolved += frame.events;
  const { accountId, lines, ids, msgId } = frame;
  return { accountId, lines, ids, msgId, seq };
}

/** Publishes until the log has it, once: nobody else writes to the subjects of a partition. Returns its sequence. */
export async function publishOutput(context: ResolverContext, message: OutgoingMessage): Promise<number> {
  const { connection, logger, counts, settings, signal } = context;
  const { seq } = await publishWithRetry(connection, message, {
    signal,
    timeoutMs: settings.publishTimeoutMs,
    isOnlyWriter: true,
    onRetry: (reason, attempt) => {
      counts.publish_retries += 1;
      if (isWorthTelling(attempt))
        logger.warn({ subject: message.subject, reason }, 'publishing to the log failed; retrying');
    },
  });
  return seq;
}
