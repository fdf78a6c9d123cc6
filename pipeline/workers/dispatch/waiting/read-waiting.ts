import { FrameError } from '../../../../shared/contracts/events/frame.ts';
import {
  backOffTiers,
  decodeRetryFrame,
  eventTiers,
  isReplayTier,
  parkedTiers,
  parseRetryRecord,
  retryHeadBytes,
  settledNoteTier,
} from '../../../../shared/contracts/events/retry-record.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { eventOfRecord } from '../events/event-of-visitor.ts';
import { parkedLines } from './parked-frames.ts';
import type { ParkedFrames } from './parked-frames.ts';
import { SettledNotes } from './settled-notes.ts';
import { attemptedBefore, notAttempted } from '../events/attempted.ts';
import { referredTo } from '../events/held-references.ts';
import type { HeldReferences } from '../events/held-references.ts';
import type { WaitingVisitors } from './waiting-visitors.ts';

type Index = { readonly waiting: WaitingVisitors; readonly frames: ParkedFrames };

/** Whether EVENTS will deliver an event again, because the claimed position does not have it as settled. */
export type ComesAgain = (origin: EventOrigin) => boolean;

type RetryLog = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly tiersStored: ReadonlySet<number>;
  readonly references: HeldReferences;
  readonly comesAgain: ComesAgain;
};

/**
 * Reads the retry log of a destination before anything is sent: which frames of EVENTS it refers to, which parked
 * events are settled and, if the destination keeps an order, which visitors wait for which events.
 */
export async function readWaiting(log: RetryLog, index: Index | SettledNotes): Promise<void> {
  const { connection, destinationId, tiersStored, references, comesAgain } = log;
  const readTier = async (tier: number, take: (message: StoredMessage) => void): Promise<void> => {
    if (!tiersStored.has(tier)) return;
    const subject = retrySubject(destinationId, tier);
    for (let seq = 1; ;) {
      const found = await readNext(connection, streams.retry, subject, seq);
      if (found === undefined) return;
      references.stored(found.seq, referredTo(readableRecords(found.data)));
      take(found);
      seq = found.seq + 1;
    }
  };
  if (index instanceof SettledNotes) {
    await Promise.all([...eventTiers].map((tier) => readTier(tier, () => undefined)));
    if (tiersStored.has(settledNoteTier)) await index.read();
    return;
  }
  const { waiting, frames } = index;
  await Promise.all(backOffTiers.map((tier) => readTier(tier, (message) => takeHeads(tier, message, waiting))));
  await Promise.all([...eventTiers].filter(isReplayTier).map((tier) => readTier(tier, () => undefined)));
  // Parked events are read last: a parked event that is also a head was being moved, and waits as a head.
  if (tiersStored.has(settledNoteTier)) await frames.readNote();
  for (const tier of parkedTiers)
    await readTier(tier, (message) => takeParkedFrame(message, waiting, frames, comesAgain));
}

/**
 * Adds a frame of parked events to the index, and returns their visitors. An event that EVENTS delivers again is not
 * added: its head may never have been stored, and EVENTS then delivers the head again before it.
 */
export function takeParkedFrame(
  { seq, data, storedAtMs }: StoredMessage,
  waiting: WaitingVisitors,
  frames: ParkedFrames,
  comesAgain: ComesAgain,
): readonly string[] {
  const lines = parkedLines(data);
  frames.stored(seq, lines.length, data.length + retryHeadBytes);
  frames.scanned(seq);
  return lines.map((line, index) => {
    const record = readableRecord(line);
    // An unreadable record has no visitor, and is handled when its turn comes.
    const { visitorId, key } = record === undefined ? { visitorId: '', key: `${seq}:${index}` } : eventOfRecord(record);
    const place = { seq, index };
    const isRepeated = record?.origin !== undefined && record.line === undefined && comesAgain(record.origin);
    if (isRepeated || frames.isSettled(place) || waiting.knows(visitorId, key)) {
      frames.finished(place);
      return visitorId;
    }
    const attempted = record === undefined ? notAttempted : attemptedBefore(record);
    const isCopied = record === undefined || record.line !== undefined;
    const receivedAtMs = record?.receivedAt ?? storedAtMs;
    waiting.park(visitorId, key, { attempted, origin: record?.origin, receivedAtMs, isCopied }, place);
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

function readableRecord(line: string): RetryRecord | undefined {
  try {
    return parseRetryRecord(line);
  } catch (error) {
    if (error instanceof FrameError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A frame that cannot be read becomes a dead letter when it is due. */
function readableRecords(data: Uint8Array): readonly RetryRecord[] {
  try {
    return decodeRetryFrame(data);
  } catch (error) {
    if (error instanceof FrameError) return [];
    throw error;
  }
}
