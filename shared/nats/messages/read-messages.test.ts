import { expect, test } from 'vitest';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readMessages } from './read-messages.ts';

/** A log whose consumers have no message: the leader's next message has the sequence `leaderSeq`. */
function laggingLog(leaderSeq: number) {
  const asked: object[] = [];
  const consumers = {
    add: () => Promise.resolve({ stream_name: 's', name: 'c', num_pending: 0 }),
    delete: () => Promise.resolve(true),
  };
  const getMessage = (_: string, query: object) => {
    asked.push(query);
    return Promise.resolve({ seq: leaderSeq, subject: 'a', time: new Date(0), header: new Map() });
  };
  const own = { jsm: { consumers, streams: { getMessage } } };
  return { connection: { connected: true, [client]: own } as unknown as LogConnection, asked };
}

const read = (connection: LogConnection, from: { readonly seq: number; readonly toSeq?: number }): Promise<number> =>
  readMessages(connection, {
    stream: 's',
    filterSubject: 'a.*',
    from,
    content: 'all',
    messagesPerPull: 10,
    silenceMaxMs: 0,
    onMessage: () => undefined,
  });

test('readMessages: a server that lags behind the leader does not end a reading up to a sequence', async () => {
  const { connection } = laggingLog(7);
  await expect(read(connection, { seq: 5, toSeq: 7 })).rejects.toMatchObject({ code: 'read_messages' });
});

test('readMessages: a reading ends if the leader has no message of the subject up to its last sequence', async () => {
  const { connection, asked } = laggingLog(7);
  expect(await read(connection, { seq: 5, toSeq: 6 })).toBe(0);
  expect(asked).toEqual([{ seq: 5, next_by_subj: 'a.*' }]);
  expect([await read(connection, { seq: 7, toSeq: 6 }), await read(connection, { seq: 5 }), asked.length]).toEqual([
    0, 0, 1,
  ]);
});
