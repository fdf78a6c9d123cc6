import { ingestDeadLetterHeaders } from '../../../shared/contracts/events/dead-letter.ts';
import {
  allIngestDeadLetters,
  ingestSubject,
  readIngestDeadLetterSubject,
} from '../../../shared/contracts/subjects.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject, deleteMessage, readNext } from '../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../shared/nats/messages/subject-log.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { LetterChoice } from './letter-choice.ts';
import { isChosen } from './letter-choice.ts';

/** An event that a resolver could not process, or that was quarantined because it crashed its reader. */
export type IngestLetter = {
  readonly partition: number;
  /** `<sequence>` of the frame in INGEST, or `<sequence>.<line>` for one event of it. */
  readonly origin: string;
  readonly reason: string;
  /** In ms since the epoch. */
  readonly storedAtMs: number;
  /** The original frame or line, with its parts joined. */
  readonly payload: Uint8Array;
  /** Sequences of the letter's messages: several if it was split into parts. */
  readonly seqs: readonly number[];
  /** Whether all parts of the letter are there. */
  readonly isWhole: boolean;
};

const attemptsMax = 5;
const lineEnd = 0x0a;

/**
 * The selected letters, by partition, oldest first, one in memory at a time. Letters that are stored meanwhile are not
 * among them, since a retried event may fail again at once.
 */
export async function* chosenIngestLetters(
  connection: LogConnection,
  choice: LetterChoice,
): AsyncGenerator<IngestLetter, void, undefined> {
  const { lastSeq } = await readStreamState(connection, streams.ingestDeadLetters);
  const subjects = await countBySubject(connection, streams.ingestDeadLetters, allIngestDeadLetters);
  for (const subject of [...subjects.keys()].toSorted()) {
    for await (const letter of lettersOf(connection, subject, lastSeq)) if (isChosen(choice, letter)) yield letter;
  }
}

/**
 * Publishes a letter to its partition again and removes it. If it fails again, it becomes a new letter. Throws for an
 * incomplete letter.
 */
export async function retryIngestLetter(connection: LogConnection, letter: IngestLetter): Promise<void> {
  const { partition, origin, storedAtMs, payload, isWhole } = letter;
  if (!isWhole) throw new Error(`putting dead letter ${origin} back: parts of it are gone`);
  await publishWithRetry(
    connection,
    {
      subject: ingestSubject(partition),
      // A single event was cut from its frame without the line end, which a frame needs.
      payload: payload.at(-1) === lineEnd ? payload : Buffer.concat([payload, Buffer.of(lineEnd)]),
      msgId: `retried.${partition}.${origin}.${storedAtMs}`,
    },
    { attemptsMax },
  );
  await deleteIngestLetter(connection, letter);
}

export async function deleteIngestLetter(connection: LogConnection, { seqs }: IngestLetter): Promise<void> {
  for (const seq of seqs) await deleteMessage(connection, streams.ingestDeadLetters, seq);
}

type Growing = IngestLetter & { readonly nextPart: number };

/**
 * The letters of a subject that begin at `lastSeq` or before, from oldest to newest. A resolver writes the parts of a
 * letter one after the other.
 */
async function* lettersOf(
  connection: LogConnection,
  subject: string,
  lastSeq: number,
): AsyncGenerator<IngestLetter, void, undefined> {
  let growing: Growing | undefined;
  for (let seq = 1; ;) {
    const message = await readNext(connection, streams.ingestDeadLetters, subject, seq);
    const next: Growing | undefined = message === undefined ? undefined : withPart(growing, message);
    if (growing !== undefined && (next === undefined || next.seqs[0] !== growing.seqs[0])) yield growing;
    if (message === undefined || (next?.seqs[0] ?? 0) > lastSeq) return;
    growing = next;
    seq = message.seq + 1;
  }
}

/**
 * `growing` extended by the message, if the message is its next part; otherwise a letter that begins with the message.
 */
function withPart(growing: Growing | undefined, message: StoredMessage): Growing {
  const { subject, seq, data, storedAtMs, header } = message;
  const origin = header(ingestDeadLetterHeaders.origin) ?? '';
  const [part = 1, parts = 1] = (header(ingestDeadLetterHeaders.part) ?? '1/1').split('/').map(Number);
  const isLast = part === parts;
  if (growing !== undefined && growing.origin === origin && growing.nextPart === part) {
    const payload = Buffer.concat([growing.payload, data]);
    return { ...growing, payload, seqs: [...growing.seqs, seq], isWhole: isLast, nextPart: part + 1 };
  }
  return {
    partition: readIngestDeadLetterSubject(subject).partition,
    origin,
    reason: header(ingestDeadLetterHeaders.reason) ?? '',
    storedAtMs,
    payload: data,
    seqs: [seq],
    isWhole: part === 1 && isLast,
    // NaN, because a letter whose first part is missing can never become complete.
    nextPart: part === 1 ? 2 : Number.NaN,
  };
}
