import type { StoredMsg } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNoMessage } from '../connection/server-error.ts';

export type StoredMessage = {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the stream stored it, in ms since the epoch. */
  readonly storedAtMs: number;
  header(name: string): string | undefined;
};

/** Header with the id of a message: within the stream's duplicate window an id is stored once. */
export const msgIdHeader = 'Nats-Msg-Id';

const copyTimeoutMs = 2_000;

/** The first message at or after `fromSeq` on a subject (wildcards allowed), read from the stream's leader. */
export function readNext(
  connection: LogConnection,
  stream: string,
  subject: string,
  fromSeq: number,
): Promise<StoredMessage | undefined> {
  return find(connection, stream, { seq: Math.max(1, fromSeq), next_by_subj: subject });
}

/** The message at `seq`, read from the stream's leader; undefined if the stream does not have it. */
export function readAt(connection: LogConnection, stream: string, seq: number): Promise<StoredMessage | undefined> {
  return find(connection, stream, { seq });
}

/** The newest message on a subject, read from the stream's leader; undefined if there is none. */
export function readLast(
  connection: LogConnection,
  stream: string,
  subject: string,
): Promise<StoredMessage | undefined> {
  return find(connection, stream, { last_by_subj: subject });
}

/** The sequence of a message and the id with which it was published. */
export type StoredId = { readonly seq: number; readonly msgId: string };

/** The sequence and id of the newest message on a subject; undefined if there is none. */
export async function lastStored(
  connection: LogConnection,
  stream: string,
  subject: string,
): Promise<StoredId | undefined> {
  return idOf(await readLast(connection, stream, subject));
}

/** The sequence and id of the message at `seq`; undefined if the stream does not have it. */
export async function storedAt(connection: LogConnection, stream: string, seq: number): Promise<StoredId | undefined> {
  // The server refuses 0.
  return seq < 1 ? undefined : idOf(await find(connection, stream, { seq }));
}

function idOf(message: StoredMessage | undefined): StoredId | undefined {
  return message && { seq: message.seq, msgId: message.header(msgIdHeader) ?? '' };
}

type Place = { readonly seq: number; readonly next_by_subj?: string } | { readonly last_by_subj: string };

async function find(connection: LogConnection, stream: string, place: Place): Promise<StoredMessage | undefined> {
  try {
    const message = await connection[client].jsm.streams.getMessage(stream, place);
    let bytes: Uint8Array | undefined;
    return {
      seq: message.seq,
      subject: message.subject,
      // Decoded on first use: some callers need only the time.
      get data() {
        return (bytes ??= dataOf(message));
      },
      storedAtMs: message.time.getTime(),
      header: (name) => message.header.get(name) || undefined,
    };
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}

/** The message's data as the server sent it, in base64: the client's type lacks these fields. */
type AnsweredMessage = { readonly smr?: { readonly message?: { readonly data?: string } } };

/**
 * The client decodes base64 character by character, which takes 20 ms for a frame of 256 KiB. Buffer takes a fraction
 * of one millisecond.
 */
function dataOf(message: StoredMsg): Uint8Array {
  const base64 = (message as AnsweredMessage).smr?.message?.data;
  return base64 === undefined ? message.data : Buffer.from(base64, 'base64');
}

/**
 * The content of the message at `seq`; undefined if the stream does not have it. Any server with a copy is asked first:
 * it sends the bytes unencoded, and messages never change. Only the leader's answer proves that the message does not
 * exist.
 */
export async function readStored(
  connection: LogConnection,
  stream: string,
  seq: number,
): Promise<Uint8Array | undefined> {
  const copy = await readCopy(connection, stream, seq);
  return copy ?? (await find(connection, stream, { seq }))?.data;
}

async function readCopy(
  { [client]: { nc } }: LogConnection,
  stream: string,
  seq: number,
): Promise<Uint8Array | undefined> {
  try {
    const answer = await nc.request(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ seq }), {
      timeout: copyTimeoutMs,
    });
    // A status code instead of a message: this server does not have the message, or does not have it yet.
    return (answer.headers?.code ?? 0) === 0 ? answer.data : undefined;
  } catch {
    return undefined;
  }
}

/** The number of messages of each matching subject; subjects without messages are left out. */
export async function countBySubject(
  connection: LogConnection,
  stream: string,
  filter: string,
): Promise<ReadonlyMap<string, number>> {
  const info = await connection[client].jsm.streams.info(stream, { subjects_filter: filter });
  return new Map(Object.entries(info.state.subjects ?? {}));
}

/**
 * Removes the messages of a subject (wildcards allowed) with a sequence below `beforeSeq`, or all. Returns their
 * number.
 */
export async function purgeSubject(
  connection: LogConnection,
  stream: string,
  subject: string,
  beforeSeq?: number,
): Promise<number> {
  const range = beforeSeq === undefined ? {} : { seq: beforeSeq };
  const { purged } = await connection[client].jsm.streams.purge(stream, { filter: subject, ...range });
  return purged;
}

/** Removes all but the newest `keep` messages of a subject (wildcards allowed). Returns how many it removed. */
export async function keepNewest(
  connection: LogConnection,
  stream: string,
  subject: string,
  keep: number,
): Promise<number> {
  // The server reads a `keep` of 0 as no limit.
  const wish = keep < 1 ? {} : { keep };
  const { purged } = await connection[client].jsm.streams.purge(stream, { filter: subject, ...wish });
  return purged;
}

/** Removes one message. Does not fail if the message is missing. */
export async function deleteMessage(connection: LogConnection, stream: string, seq: number): Promise<void> {
  try {
    await connection[client].jsm.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    if (!isNoMessage(error)) throw error;
  }
}

const deletionsAtOnce = 8;

/** Deletes messages, several at a time, and calls `onDeleted` after each. */
export async function deleteMessages(
  connection: LogConnection,
  stream: string,
  seqs: Iterable<number>,
  onDeleted: (seq: number) => void,
): Promise<void> {
  const left = [...seqs];
  const deleteNext = async (): Promise<void> => {
    for (let seq = left.pop(); seq !== undefined; seq = left.pop()) {
      await deleteMessage(connection, stream, seq);
      onDeleted(seq);
    }
  };
  await Promise.all(Array.from({ length: deletionsAtOnce }, deleteNext));
}
