import type { LogConnection } from '../connection/connection.ts';
import { isNoMessage } from '../connection/server-error.ts';

/** Where a message stands and the `Nats-Msg-Id` it was published under. */
export type StoredId = { readonly seq: number; readonly msgId: string };

/** The newest message on a subject; undefined when there is none. */
export function lastStored(connection: LogConnection, stream: string, subject: string): Promise<StoredId | undefined> {
  return find(connection, stream, { last_by_subj: subject });
}

/** The message at a sequence; undefined when it is gone. */
export async function storedAt(connection: LogConnection, stream: string, seq: number): Promise<StoredId | undefined> {
  // The server takes 0 for a mistake.
  return seq < 1 ? undefined : find(connection, stream, { seq });
}

async function find(
  connection: LogConnection,
  stream: string,
  place: { readonly last_by_subj: string } | { readonly seq: number },
): Promise<StoredId | undefined> {
  try {
    const { seq, header } = await connection.jsm.streams.getMessage(stream, place);
    return { seq, msgId: header.get('Nats-Msg-Id') };
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}
