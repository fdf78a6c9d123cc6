import { decodeDeadLetter } from '../../contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../contracts/events/dead-letter.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readNewestFirst } from './newest-first.ts';
import { findSeqAt } from '../streams/stream-progress.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import { streams } from '../streams/topology.ts';
import { clockSlackMs, matchesFilter } from '../../contracts/events/dead-letter-filter.ts';
import type { DeadLetterFilter } from '../../contracts/events/dead-letter-filter.ts';

/** A dead letter and its place in the log, which names it. */
export type ListedDeadLetter = { readonly seq: number; readonly letter: DeadLetter };

export type DeadLetterPage = {
  readonly letters: readonly ListedDeadLetter[];
  /** Give it as `beforeSeq` for the next page; undefined on the last one. */
  readonly nextBeforeSeq: number | undefined;
};

export type DeadLetterPageRequest = {
  readonly limit: number;
  readonly beforeSeq?: number | undefined;
  readonly filter?: DeadLetterFilter;
};

/** Letters a page with a filter looks at, at most: one that finds few of them comes back short, not late. */
const scannedMax = 1_000;
const chunkMax = 250;

/**
 * A page of the dead letters of a destination, newest first. What this build cannot read is left out. With a filter a
 * page may be short, or empty, and still not be the last.
 */
export async function listDeadLetters(
  connection: LogConnection,
  destinationId: string,
  { limit, beforeSeq, filter = {} }: DeadLetterPageRequest,
): Promise<DeadLetterPage> {
  const subject = deadLetterSubject(destinationId);
  const { fromMs } = filter;
  const oldestSeq =
    fromMs === undefined ? 0 : await findSeqAt(connection, streams.deadLetters, Math.max(0, fromMs - clockSlackMs));
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const letters: ListedDeadLetter[] = [];
  let before = beforeSeq;
  for (let scanned = 0; scanned < scannedMax;) {
    const chunk = isFiltered ? chunkMax : limit - letters.length;
    const found = await readNewestFirst(connection, streams.deadLetters, subject, chunk, before);
    for (const [index, { seq, data }] of found.messages.entries()) {
      if (seq < oldestSeq) return { letters, nextBeforeSeq: undefined };
      before = seq;
      const letter = decodeDeadLetter(data);
      if (letter === undefined || !matchesFilter(letter, filter)) continue;
      letters.push({ seq, letter });
      const isLast = index === found.messages.length - 1 && !found.hasMore;
      if (letters.length === limit) return { letters, nextBeforeSeq: isLast ? undefined : seq };
    }
    if (!found.hasMore) return { letters, nextBeforeSeq: undefined };
    scanned += found.messages.length;
  }
  return { letters, nextBeforeSeq: before };
}
