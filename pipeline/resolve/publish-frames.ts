import { idsHeader } from '../../shared/events/resolved-event.ts';
import { predecessorHeader } from '../../shared/log/predecessors.ts';
import { eventsSubject } from '../../shared/log/subjects.ts';
import { streams } from '../../shared/log/topology.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { publishSurely } from './publish-surely.ts';
import type { ResolverContext } from './resolver-context.ts';

/** A frame of resolved events that is in the log. */
export type WrittenFrame = Pick<OutgoingFrame, 'ids' | 'msgId'> & {
  /** Its sequence in EVENTS. */
  readonly seq: number;
};

const accountsAtOnceMax = 16;

/**
 * Writes resolved frames to the logs of their accounts: one after the other within an account, several accounts at once.
 * Returns them in the order of the log.
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
  const rows = accounts.values();
  const written: WrittenFrame[] = [];
  const work = async (): Promise<void> => {
    for (const row of rows) {
      for (const frame of row)
        written.push({ ids: frame.ids, msgId: frame.msgId, seq: await publishFrame(context, frame) });
    }
  };
  await Promise.all(Array.from({ length: Math.min(accountsAtOnceMax, accounts.size) }, work));
  return written.toSorted((a, b) => a.seq - b.seq);
}

async function publishFrame(context: ResolverContext, frame: OutgoingFrame): Promise<number> {
  const subject = eventsSubject(frame.accountId, context.partition);
  const seq = await publishSurely(context, {
    stream: streams.events,
    subject,
    payload: frame.payload,
    msgId: frame.msgId,
    headers: { [idsHeader]: frame.ids, [predecessorHeader]: context.predecessors.next(subject) },
  });
  context.predecessors.stored(subject, seq);
  context.counts.output_frames += 1;
  context.counts.resolved += frame.events;
  return seq;
}
