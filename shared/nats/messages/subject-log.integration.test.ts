import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { publishWithRetry } from '../publish/publisher.ts';
import { deleteMessage, readNext, readStored } from './subject-log.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import { ensureTopology, streams } from '../streams/topology.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'subject-log-test' });
  await ensureTopology(connection, testTopology());
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

async function store(text: string): Promise<number> {
  const message = { subject: deadLetterSubject('a'), payload: Buffer.from(text), msgId: text };
  const { seq } = await publishWithRetry(connection, message, { attemptsMax: 6 });
  return seq;
}

test.each([
  ['copies may be asked', true],
  ['only the leader may be asked', false],
])('stored message, %s: is read by its sequence, and is undefined once it is gone', async (_what, allow_direct) => {
  const { config } = await connection[client].jsm.streams.info(streams.deadLetters);
  await connection[client].jsm.streams.update(streams.deadLetters, { ...config, allow_direct });
  const [first, second] = [await store(`größe ${allow_direct}`), await store(`second ${allow_direct}`)];
  expect(Buffer.from((await readStored(connection, streams.deadLetters, first)) ?? []).toString()).toMatch(/^größe/);
  await deleteMessage(connection, streams.deadLetters, second);
  expect(await readStored(connection, streams.deadLetters, second)).toBeUndefined();
  expect(await readStored(connection, streams.deadLetters, second + 100)).toBeUndefined();
});

test('stored message: the client does not decode the content that readNext returns, because decoding large content is slow', async () => {
  const seq = await store(`größe ${'x'.repeat(10_000)}`);
  const decode = vi.spyOn(globalThis, 'atob');
  try {
    const message = await readNext(connection, streams.deadLetters, deadLetterSubject('a'), seq);
    expect(Buffer.from(message?.data ?? []).toString()).toBe(`größe ${'x'.repeat(10_000)}`);
    expect(decode).not.toHaveBeenCalled();
  } finally {
    decode.mockRestore();
  }
});
