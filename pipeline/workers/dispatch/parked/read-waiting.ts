import { FrameError } from '../../../../shared/contracts/events/frame.ts';
import {
  decodeRetryFrame,
  parkedTier,
  parseRetryRecord,
  settledNoteTier,
} from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { eventOfRecord } from './event-of-visitor.ts';
import type { EventOfVisitor } from './event-of-visitor.ts';
import { parkedLines } from './parked-frames.ts';
import type { ParkedFrames } from './parked-frames.ts';
import { retryTierDelaysMs } from '../retry/retry-policy.ts';
import type { WaitingVisitors } from './waiting-visitors.ts';

type Index = { readonly waiting: WaitingVisitors; readonly frames: ParkedFrames };

/** Reads what waits in the retry log of a destination, before anything is sent: who waits, and for what. */
export async function readWaiting(
  connection: LogConnection,
  destinationId: string,
  tiersStored: ReadonlySet<number>,
  { waiting, frames }: Index,
): Promise<void> {
  const readTier = async (tier: number, take: (message: StoredMessage) => void): Promise<void> => {
    if (!tiersStored.has(tier)) return;
    const subject = retrySubject(destinationId, tier);
    for (let seq = 1; ;) {
      const found = await readNext(connection, streams.retry, subject, seq);
      if (found === undefined) return;
      take(found);
      seq = found.seq + 1;
    }
  };
  const backOffTiers = [...retryTierDelaysMs.keys()];
  await Promise.all(backOffTiers.map((tier) => readTier(tier, (message) => takeHeads(tier, message, waiting))));
  // Only now: what is in both was being moved, and waits where it was moved to.
  if (tiersStored.has(settledNoteTier)) await frames.readNote();
  await readTier(parkedTier, (message) => takeParkedFrame(message, waiting, frames));
}

/** Takes a frame of parked events into the index. Returns the visitors they are of. */
export function takeParkedFrame(
  { seq, data }: StoredMessage,
  waiting: WaitingVisitors,
  frames: ParkedFrames,
): readonly string[] {
  const lines = parkedLines(data);
  frames.stored(seq, lines.length, data.length);
  return lines.map((line, index) => {
    // What cannot be read waits for nobody, and is found out when its turn comes.
    const { visitorId, key } = eventOf(line) ?? { visitorId: '', key: `${seq}:${index}` };
    const place = { seq, index };
    if (frames.isSettled(place) || waiting.knows(visitorId, key)) frames.finished(place);
    else waiting.park(visitorId, key, place);
    return visitorId;
  });
}

function takeHeads(tier: number, { seq, data }: StoredMessage, waiting: WaitingVisitors): void {
  for (const record of readableRecords(data)) {
    const { visitorId, key } = eventOfRecord(record);
    waiting.addHead(visitorId, key);
    waiting.placeHead(visitorId, key, { tier, seq });
  }
}

function eventOf(line: string): EventOfVisitor | undefined {
  try {
    return eventOfRecord(parseRetryRecord(line));
  } catch (error) {
    if (error instanceof FrameError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Whoever reads a frame that nobody can read keeps it apart. */
function readableRecords(data: Uint8Array): readonly RetryRecord[] {
  try {
    return decodeRetryFrame(data);
  } catch (error) {
    if (error instanceof FrameError) return [];
    throw error;
  }
}
