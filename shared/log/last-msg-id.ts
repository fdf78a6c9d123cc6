import type { LogConnection } from './connection.ts';
import { isNoMessage } from './server-error.ts';

/** The `Nats-Msg-Id` of the newest message on a subject; undefined when there is none. */
export async function lastMsgId(
  connection: LogConnection,
  stream: string,
  subject: string,
): Promise<string | undefined> {
  try {
    const message = await connection.jsm.streams.getMessage(stream, { last_by_subj: subject });
    const id = message.header.get('Nats-Msg-Id');
    return id === '' ? undefined : id;
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}
