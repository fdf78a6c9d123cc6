import fc from 'fast-check';
import { expect, test } from 'vitest';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { answeredError, serverErrors } from '../connection/server-error.ts';
import { findSeqAt } from './find-seq-at.ts';

/** A stream whose leader has a message at each time, and whose consumers are on a server with the first `copied`. */
function streamOf(times: readonly number[], copied: number): LogConnection {
  const seqAt = (timeMs: number, held: readonly number[]): number => {
    const index = held.findIndex((time) => time >= timeMs);
    return (index === -1 ? held.length : index) + 1;
  };
  const consumers = {
    add: (_: string, { opt_start_time: start }: { readonly opt_start_time: string }) => {
      const seq = seqAt(Date.parse(start), times.slice(0, copied));
      return Promise.resolve({ name: 'c', delivered: { stream_seq: seq - 1 } });
    },
    delete: () => Promise.resolve(true),
  };
  const messages = {
    info: () => Promise.resolve({ created: '', config: {}, state: { last_seq: times.length } }),
    getMessage: async (_: string, { seq }: { readonly seq: number }) => {
      const time = times[seq - 1];
      if (time !== undefined) return { seq, subject: 'a', time: new Date(time), header: new Map() };
      const error = { code: 404, err_code: serverErrors.noMessageFound, description: 'no message found' };
      throw answeredError({ data: Buffer.from(JSON.stringify({ error })) } as never);
    },
  };
  return { connected: true, [client]: { jsm: { consumers, streams: messages } } } as unknown as LogConnection;
}

test('findSeqAt: property: a server that lags behind the leader does not change the sequence', async () => {
  const stored = fc.array(fc.nat(50), { maxLength: 30 }).map((times) => times.toSorted((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(stored, fc.nat(30), fc.nat(60), async (times, copied, timeMs) => {
      const wanted = times.filter((time) => time < timeMs).length + 1;
      expect(await findSeqAt(streamOf(times, copied), 's', timeMs)).toBe(wanted);
    }),
  );
});
