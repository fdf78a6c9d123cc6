import { idsHeader } from '../../shared/events/resolved-event.ts';
import { eventsSubject } from '../../shared/log/subjects.ts';
import { streams } from '../../shared/log/topology.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { publishSurely } from './publish-surely.ts';
import type { ResolverContext } from './resolver-context.ts';

const accountsAtOnceMax = 16;

/** Writes resolved frames to the logs of their accounts: one after the other within an account, several accounts at once. */
export async function publishFrames(context: ResolverContext, frames: readonly OutgoingFrame[]): Promise<void> {
  const accounts = new Map<string, OutgoingFrame[]>();
  for (const frame of frames) {
    const row = accounts.get(frame.accountId);
    if (row === undefined) accounts.set(frame.accountId, [frame]);
    else row.push(frame);
  }
  const rows = accounts.values();
  const work = async (): Promise<void> => {
    for (const row of rows) for (const frame of row) await publishFrame(context, frame);
  };
  await Promise.all(Array.from({ length: Math.min(accountsAtOnceMax, accounts.size) }, work));
}

async function publishFrame(context: ResolverContext, frame: OutgoingFrame): Promise<void> {
  await publishSurely(context, {
    stream: streams.events,
    subject: eventsSubject(frame.accountId, context.partition),
    payload: frame.payload,
    msgId: frame.msgId,
    headers: { [idsHeader]: frame.ids },
  });
  context.counts.output_frames += 1;
  context.counts.resolved += frame.events;
}
