import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { createFramePublisher } from './frame-publisher.ts';
import { publish, publishWithRetry } from './publisher.ts';
import { ingestSubject } from '../../contracts/subjects.ts';

let server: NatsServer;
let connection: LogConnection;
let answers: string[] = [];
let ids: string[] = [];

beforeAll(async () => {
  server = await startTestNats();
  connection = await connectLog({ url: server.url, name: 'test' });
  // Replaces the stream: sends the answers that a test has put into `answers`.
  connection[client].nc.subscribe('ingest.*', {
    callback: (_error, message) => {
      ids.push(message.headers?.get('Nats-Msg-Id') ?? '');
      message.respond(Buffer.from(answers.shift() ?? ''));
    },
  });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

const unstored = '{"stream":"INGEST","seq":0,"duplicate":true}';
const inProcess = '{"error":{"code":409,"err_code":10158,"description":"in process"},"stream":"INGEST","seq":0}';
const stored = '{"stream":"INGEST","seq":5,"duplicate":true}';
const payload = Buffer.from('x');

test('frame publisher: an answer "duplicate" without a sequence means not stored', async () => {
  const publisher = createFramePublisher(connection);
  const outcomes = [];
  for (const answer of [unstored, inProcess, stored]) {
    answers = [answer];
    outcomes.push(await publisher.publish(ingestSubject(0), payload, 'id', 5_000));
  }
  expect(outcomes).toEqual(['busy', 'busy', undefined]);
});

test('publish: an answer "duplicate" without a sequence means not stored, and the message is sent again under its id', async () => {
  answers = [unstored];
  await expect(
    publish(connection, ingestSubject(0), payload, { msgId: 'one', timeoutMs: 5_000 }),
  ).rejects.toMatchObject({ reason: 'busy' });
  answers = [unstored, inProcess, stored];
  ids = [];
  const message = { subject: ingestSubject(0), payload, msgId: 'two' };
  expect(await publishWithRetry(connection, message, { attemptsMax: 3 })).toEqual({ seq: 5, duplicate: true });
  expect(ids).toEqual(['two', 'two', 'two']);
});
