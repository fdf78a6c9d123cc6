import { AckPolicy, DeliverPolicy } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import { readNext } from './subject-log.ts';

/**
 * The sequence of the first message stored at or after a time, in ms since the epoch. If there is no such message, the
 * sequence after the end of the stream.
 */
export async function findSeqAt(connection: LogConnection, stream: string, timeMs: number): Promise<number> {
  const fromMs = Math.trunc(timeMs);
  // Asks through a consumer: every version of the server computes the first sequence of a consumer with a start time.
  const info = await connection[client].jsm.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(fromMs).toISOString(),
    inactive_threshold: 60e9,
    mem_storage: true,
  });
  await connection[client].jsm.consumers.delete(stream, info.name);
  let seq = info.delivered.stream_seq + 1;
  const isEarlier = async (at: number): Promise<boolean> =>
    ((await readNext(connection, stream, '>', at))?.storedAtMs ?? Infinity) < fromMs;
  if (!(await isEarlier(seq))) return seq;
  // The server that answered lags behind the stream's leader, which has earlier messages from that sequence on.
  let end = (await readStreamState(connection, stream)).lastSeq + 1;
  while (seq < end) {
    const middle = Math.floor((seq + end) / 2);
    if (await isEarlier(middle)) seq = middle + 1;
    else end = middle;
  }
  return seq;
}
