import type { LogConnection } from './connection.ts';
import type { DurableConsumer } from './consumers.ts';

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

/** When the oldest message a consumer has not finished was stored, in ms since the epoch; undefined when none waits. */
export async function oldestWaitingAtMs(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name' | 'filterSubject'>,
): Promise<number | undefined> {
  const info = await connection.jsm.consumers.info(consumer.stream, consumer.name);
  if (info.num_pending + info.num_ack_pending === 0) return undefined;
  try {
    const request = { seq: info.ack_floor.stream_seq + 1, next_by_subj: consumer.filterSubject };
    const message = await connection.jsm.streams.getMessage(consumer.stream, request);
    return message.time.getTime();
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}

function isNoMessage(error: unknown): boolean {
  return error instanceof Error && /no message found|message not found/i.test(error.message);
}
