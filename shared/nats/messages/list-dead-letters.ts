import { AckPolicy, DeliverPolicy } from 'nats';
import type { DeadLetter, DeadLetterFilter } from '../../contracts/events/dead-letter.ts';
import { clockSlackMs, decodeDeadLetter, matchesFilter } from '../../contracts/events/dead-letter.ts';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { findSeqAt } from '../streams/stream-progress.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import { streams } from '../streams/topology.ts';
import type { StoredMessage } from './subject-log.ts';
import { readNext } from './subject-log.ts';

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

type NewestFirst = {
  readonly messages: readonly StoredMessage[];
  /** Whether older ones are left. */
  readonly hasMore: boolean;
};

/**
 * The newest `limit` messages of a subject (wildcards allowed) with a sequence below `beforeSeq`, newest first. A
 * stream can only be read forwards: where to begin is found by asking how many messages there are from a place on.
 */
async function readNewestFirst(
  connection: LogConnection,
  stream: string,
  subject: string,
  limit: number,
  beforeSeq = Infinity,
): Promise<NewestFirst> {
  const { state } = await connection[client].jsm.streams.info(stream);
  const end = Math.min(beforeSeq, state.last_seq + 1);
  const behindEnd = await countFrom(connection, stream, subject, end);
  // One more than asked for tells whether there are older ones.
  const wanted = behindEnd + limit + 1;
  let low = state.first_seq;
  let high = end;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await countFrom(connection, stream, subject, middle)) >= wanted) low = middle;
    else high = middle - 1;
  }
  const messages: StoredMessage[] = [];
  for (let seq = low; seq < end;) {
    const found = await readNext(connection, stream, subject, seq);
    if (found === undefined || found.seq >= end) break;
    messages.push(found);
    seq = found.seq + 1;
  }
  const newest = messages.toReversed();
  return { messages: newest.slice(0, limit), hasMore: newest.length > limit };
}

/** Messages of a subject from a sequence on: a consumer that begins there is told how many wait for it. */
async function countFrom(connection: LogConnection, stream: string, subject: string, seq: number): Promise<number> {
  const info = await connection[client].jsm.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, seq),
    filter_subject: subject,
    inactive_threshold: 60e9,
    mem_storage: true,
  });
  await connection[client].jsm.consumers.delete(stream, info.name);
  return info.num_pending;
}
