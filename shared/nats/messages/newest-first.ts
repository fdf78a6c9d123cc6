import { AckPolicy, DeliverPolicy } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readNext } from './subject-log.ts';
import type { StoredMessage } from './subject-log.ts';

export type NewestFirst = {
  readonly messages: readonly StoredMessage[];
  /** Whether older ones are left. */
  readonly hasMore: boolean;
};

/**
 * The newest `limit` messages of a subject (wildcards allowed) with a sequence below `beforeSeq`, newest first. A
 * stream can only be read forwards: where to begin is found by asking how many messages there are from a place on.
 */
export async function readNewestFirst(
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
