import { clockSlackMs, decodeDeadLetter, matchesFilter } from '../../contracts/events/dead-letter.ts';
import type { DeadLetterFilter } from '../../contracts/events/dead-letter.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import type { LogConnection } from '../connection/connection.ts';
import { findSeqAt } from './find-seq-at.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import { streams } from '../streams/topology.ts';
import type { DeadLetterBounds } from './list-dead-letters.ts';
import { deleteMessage, purgeSubject, readNext } from './subject-log.ts';

/** The sequences that a deletion covers, both ends included. */
export type DeletionRange = { readonly fromSeq: number; readonly endSeq: number };

export type DeletedDeadLetters = {
  readonly deleted: number;
  /** The argument of the next call; undefined after the last one. */
  readonly next: DeletionRange | undefined;
};

/**
 * Deletes the dead letters of a destination that match a filter, oldest first, within the bounds of one call. Letters
 * that arrive during the deletion stay. Without a filter one call deletes all letters, even unreadable ones; with a
 * filter unreadable letters stay.
 */
export async function deleteDeadLetters(
  connection: LogConnection,
  destinationId: string,
  request: { readonly filter: DeadLetterFilter; readonly range?: DeletionRange | undefined },
  { bytesMax, timeMs }: DeadLetterBounds,
): Promise<DeletedDeadLetters> {
  const endsAtMs = performance.now() + timeMs;
  const stream = streams.deadLetters;
  const subject = deadLetterSubject(destinationId);
  const { filter } = request;
  const { fromSeq, endSeq } = request.range ?? (await wholeRange(connection, filter));
  if (Object.values(filter).every((value) => value === undefined)) {
    return { deleted: await purgeSubject(connection, stream, subject, endSeq + 1), next: undefined };
  }
  let [deleted, bytes] = [0, 0];
  for (let seq = fromSeq; ;) {
    const message = await readNext(connection, stream, subject, seq);
    if (message === undefined || message.seq > endSeq) return { deleted, next: undefined };
    if (bytes >= bytesMax || performance.now() >= endsAtMs) {
      return { deleted, next: { fromSeq: message.seq, endSeq } };
    }
    const letter = decodeDeadLetter(message.data);
    if (letter !== undefined && matchesFilter(letter, filter)) {
      await deleteMessage(connection, stream, message.seq);
      deleted += 1;
    }
    bytes += message.data.length;
    seq = message.seq + 1;
  }
}

async function wholeRange(connection: LogConnection, { fromMs }: DeadLetterFilter): Promise<DeletionRange> {
  const { firstSeq, lastSeq } = await readStreamState(connection, streams.deadLetters);
  const fromSeq =
    fromMs === undefined
      ? firstSeq
      : await findSeqAt(connection, streams.deadLetters, Math.max(0, fromMs - clockSlackMs));
  return { fromSeq, endSeq: lastSeq };
}
