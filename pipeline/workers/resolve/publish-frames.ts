import { idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import { batchMessagesMax, batchMessagesMin } from '../../../shared/nats/publish/publish-batch.ts';
import type { OutgoingMessage } from '../../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../../shared/contracts/subjects.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import type { ResolverContext } from './resolver-context.ts';

/** A frame of resolved events that the log has stored. */
export type WrittenFrame = Pick<OutgoingFrame, 'accountId' | 'lines' | 'ids' | 'msgId'> & {
  /** Its sequence in EVENTS. */
  readonly seq: number;
};

const accountsAtOnceMax = 16;

/**
 * Publishes resolved frames: those of an account in order, those of several accounts at once. With many accounts, the
 * first frames of all accounts are published in batches. Returns the frames in the order of the log.
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
    const seqs = await context.writer.publishTogether(rows.flatMap(([head]) => (head ? messageOf(context, head) : [])));
    if (seqs === undefined) continue;
    for (const [index, row] of rows.entries()) {
      const frame = row.shift();
      if (frame !== undefined) written.push(noteWritten(context, frame, seqs[index] ?? 0));
    }
  }
  const rows = accounts.values();
  const work = async (): Promise<void> => {
    for (const row of rows) {
      for (const frame of row) {
        written.push(noteWritten(context, frame, (await context.writer.publish(messageOf(context, frame))).seq));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(accountsAtOnceMax, accounts.size) }, work));
  const inOrder = written.toSorted((a, b) => a.seq - b.seq);
  context.writer.written(inOrder);
  return inOrder;
}

function messageOf({ partition }: ResolverContext, { accountId, payload, msgId, ids }: OutgoingFrame): OutgoingMessage {
  return { subject: eventsSubject(accountId, partition), payload, msgId, headers: { [idsHeader]: ids } };
}

function noteWritten({ counts }: ResolverContext, frame: OutgoingFrame, seq: number): WrittenFrame {
  counts.output_frames += 1;
  counts.output_bytes += frame.lines.length;
  counts.output_bytes_stored += frame.payload.length;
  counts.resolved += frame.events;
  const { accountId, lines, ids, msgId } = frame;
  return { accountId, lines, ids, msgId, seq };
}
