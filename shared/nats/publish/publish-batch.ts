import { randomBytes } from 'node:crypto';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readBatchAnswer } from './publish-answer.ts';
import { PublishError, asPublishError, publishHeaders } from './publisher.ts';
import type { PublishOptions } from './publisher.ts';
import { streamOf } from '../streams/topology.ts';

export type BatchMessage = Pick<PublishOptions, 'msgId' | 'headers'> & {
  readonly subject: string;
  readonly payload: Uint8Array;
};

/**
 * Maximum number of messages in one batch (`max_batch_size` of nats-server, which also limits each stream to 50 open
 * batches).
 */
export const batchMessagesMax = 1_000;

/**
 * A batch pays off from this many messages on, since a single server first creates files for every batch. Compared with
 * single publishes, a batch of two messages takes five times as long, a batch of 16 equally long, and a batch of 64 a
 * third of the time (`bench/micro/publish-batch-main.ts`).
 */
export const batchMessagesMin = 16;

/**
 * Stores messages of one stream as an atomic batch: either all of them, consecutively, or none. Tries once. Returns
 * their sequences. Throws PublishError, also if the stream knows one of the ids. After a failure other than a refusal
 * the messages may be stored nevertheless: to find out, publish them one by one with the same ids.
 */
export async function publishBatch(
  connection: LogConnection,
  messages: readonly BatchMessage[],
  timeoutMs: number,
): Promise<readonly number[]> {
  const last = messages.at(-1);
  if (last === undefined) return [];
  // The client has no useful reconnect buffer: data written while disconnected is dropped.
  if (!connection.connected) throw new PublishError('disconnected', last.subject);
  const { nc } = connection[client];
  const id = randomBytes(12).toString('base64url');
  try {
    // The server answers only the last message. If an earlier one is missing, it refuses the batch.
    for (const [index, message] of messages.slice(0, -1).entries()) {
      nc.publish(message.subject, message.payload, { headers: batchHeaders(message, id, index + 1) });
    }
    const headers = batchHeaders(last, id, messages.length);
    headers.set('Nats-Batch-Commit', '1');
    const reply = await nc.request(last.subject, last.payload, { timeout: timeoutMs, headers });
    const answer = readBatchAnswer(reply.data, streamOf(last.subject), id, messages.length);
    if (answer.kind === 'failed') throw new PublishError(answer.reason, last.subject, new Error(reply.string()));
    return messages.map((_, index) => answer.seq - messages.length + 1 + index);
  } catch (error) {
    throw asPublishError(last.subject, error);
  }
}

function batchHeaders(message: BatchMessage, id: string, sequence: number): ReturnType<typeof publishHeaders> {
  const headers = publishHeaders(message);
  headers.set('Nats-Batch-Id', id);
  headers.set('Nats-Batch-Sequence', String(sequence));
  return headers;
}
