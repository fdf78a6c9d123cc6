import { AckPolicy, DeliverPolicy } from 'nats';
import type { DeadLetter, DeadLetterFilter } from '../../contracts/events/dead-letter.ts';
import { clockSlackMs, decodeDeadLetter, matchesFilter } from '../../contracts/events/dead-letter.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { findSeqAt } from './find-seq-at.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import { streams } from '../streams/topology.ts';
import { readMessages } from './read-messages.ts';
import { deleteMessage, readAt } from './subject-log.ts';

/** A dead letter and its sequence in the log, which identifies it. */
export type ListedDeadLetter = { readonly seq: number; readonly letter: DeadLetter };

export type DeadLetterPage = {
  readonly letters: readonly ListedDeadLetter[];
  /** The `beforeSeq` of the next page; undefined on the last page. */
  readonly nextBeforeSeq: number | undefined;
};

export type DeadLetterPageRequest = {
  readonly limit: number;
  readonly beforeSeq?: number | undefined;
  readonly filter?: DeadLetterFilter;
};

/** The bounds of one call. A page that reaches one of them is short. */
export type DeadLetterBounds = {
  /** Bytes read from the log for one page. Reading stops after the letter that reaches this number. */
  readonly bytesMax: number;
  readonly timeMs: number;
};

export type ListOptions = DeadLetterBounds & {
  /**
   * Whether an event's visitor was erased after the event was received; if so, the letter is deleted and not listed.
   */
  readonly isErased: (event: ResolvedEvent) => boolean;
};

/** Maximum number of letters read for a page with a filter. */
const scannedMax = 1_000;
const placesPerPull = 256;
const silenceMaxMs = 5_000;

/**
 * A page of the dead letters of a destination, newest first. Letters that this build cannot read are left out. A page
 * may be short or empty without being the last if there is a filter, if it reaches a bound, or if letters belong to
 * erased visitors.
 */
export async function listDeadLetters(
  connection: LogConnection,
  destinationId: string,
  { limit, beforeSeq, filter = {} }: DeadLetterPageRequest,
  { bytesMax, timeMs, isErased }: ListOptions,
): Promise<DeadLetterPage> {
  const endsAtMs = performance.now() + timeMs;
  const subject = deadLetterSubject(destinationId);
  const { fromMs } = filter;
  const oldestSeq =
    fromMs === undefined ? 0 : await findSeqAt(connection, streams.deadLetters, Math.max(0, fromMs - clockSlackMs));
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const scanned = isFiltered ? scannedMax : limit;
  const { seqs, hasMore } = await findNewest(connection, streams.deadLetters, subject, scanned, beforeSeq);
  const letters: ListedDeadLetter[] = [];
  let bytes = 0;
  for (const [index, seq] of seqs.entries()) {
    if (seq < oldestSeq) return { letters, nextBeforeSeq: undefined };
    const message = await readAt(connection, streams.deadLetters, seq);
    const letter = message === undefined ? undefined : decodeDeadLetter(message.data);
    if (letter !== undefined && isErased(letter.event)) await deleteMessage(connection, streams.deadLetters, seq);
    else if (letter !== undefined && matchesFilter(letter, filter)) letters.push({ seq, letter });
    bytes += message?.data.length ?? 0;
    const isLast = index === seqs.length - 1 && !hasMore;
    const isFull = letters.length === limit || bytes >= bytesMax || performance.now() >= endsAtMs;
    if (isFull) return { letters, nextBeforeSeq: isLast ? undefined : seq };
  }
  return { letters, nextBeforeSeq: hasMore ? seqs.at(-1) : undefined };
}

/** One dead letter of a destination by its sequence; undefined if there is none. */
export async function findDeadLetter(
  connection: LogConnection,
  destinationId: string,
  seq: number,
  { isErased }: Pick<ListOptions, 'isErased'>,
): Promise<ListedDeadLetter | undefined> {
  const message = await readAt(connection, streams.deadLetters, seq);
  if (message === undefined || message.subject !== deadLetterSubject(destinationId)) return undefined;
  const letter = decodeDeadLetter(message.data);
  if (letter === undefined) return undefined;
  if (!isErased(letter.event)) return { seq, letter };
  await deleteMessage(connection, streams.deadLetters, seq);
  return undefined;
}

type Newest = {
  /** Newest first. */
  readonly seqs: readonly number[];
  /** Whether there are older messages. */
  readonly hasMore: boolean;
};

/**
 * The sequences of the newest `limit` messages of a subject (wildcards allowed) below `beforeSeq`. A stream can only be
 * read forwards: the start is found by counting the messages after a sequence, and from there only headers are read.
 */
async function findNewest(
  connection: LogConnection,
  stream: string,
  subject: string,
  limit: number,
  beforeSeq = Infinity,
): Promise<Newest> {
  const { state } = await connection[client].jsm.streams.info(stream);
  const end = Math.min(beforeSeq, state.last_seq + 1);
  const behindEnd = await countFrom(connection, stream, subject, end);
  // One message more than requested shows whether there are older messages.
  const wanted = behindEnd + limit + 1;
  let low = state.first_seq;
  let high = (await countFrom(connection, stream, subject, low)) <= wanted ? low : end;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await countFrom(connection, stream, subject, middle)) >= wanted) low = middle;
    else high = middle - 1;
  }
  const seqs: number[] = [];
  await readMessages(connection, {
    stream,
    filterSubject: subject,
    from: { seq: low },
    content: 'headers',
    messagesPerPull: placesPerPull,
    silenceMaxMs,
    onMessage({ seq }) {
      if (seq < end) seqs.push(seq);
      return seq < end - 1;
    },
  });
  const newest = seqs.toReversed();
  return { seqs: newest.slice(0, limit), hasMore: newest.length > limit };
}

/**
 * The number of messages of a subject at or after a sequence. The server reports it as the pending messages of a
 * consumer that begins there.
 */
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
