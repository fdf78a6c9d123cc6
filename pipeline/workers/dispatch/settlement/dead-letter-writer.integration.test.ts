import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../../shared/embedded/nats/nats-server.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { decodeDeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { PublishFailure } from '../../../../shared/nats/publish/publish-answer.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { deadLetterSubject } from '../../../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../../../shared/testing/servers.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { DeadLetterWriter } from './dead-letter-writer.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'test' });
  await ensureTopology(connection, testTopology());
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

const letter = (id: string) => ({
  attempts: 1,
  firstAttemptAt: Date.now(),
  lastAttemptAt: Date.now(),
  reason: 'refused',
  event: encodeResolved(sampleEvent({ id })),
});

function write(destinationId: string) {
  const retries: PublishFailure[] = [];
  const { signal } = new AbortController();
  const onRetry = (reason: PublishFailure): void => void retries.push(reason);
  return { writer: new DeadLetterWriter({ connection, destinationId, signal, onRetry }), retries };
}

async function stored(destinationId: string): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (let seq = 1; ;) {
    const message = await readNext(connection, streams.deadLetters, deadLetterSubject(destinationId), seq);
    if (message === undefined) return found;
    found.push(message);
    seq = message.seq + 1;
  }
}

const idOf = ({ data }: StoredMessage): string => decodeDeadLetter(data)?.event.event.id ?? '';
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `e${index}`);

test('dead letters: many letters added at once are stored in batches, in order, each as a message of its own', async () => {
  const destinationId = randomUUID();
  const { writer, retries } = write(destinationId);
  await Promise.all(numbered(600).map((id) => writer.add(letter(id), id, `events 1.${id}`)));
  const messages = await stored(destinationId);
  expect(messages.map(idOf)).toEqual(numbered(600));
  expect(new Set(messages.map((message) => message.header('Nats-Batch-Id'))).size).toBe(3);
  expect(retries).toEqual([]);
});

test('dead letters: a few letters are stored one by one, without a batch', async () => {
  const destinationId = randomUUID();
  const { writer } = write(destinationId);
  await Promise.all(numbered(3).map((id) => writer.add(letter(id), id, `events 1.${id}`)));
  const messages = await stored(destinationId);
  expect(messages.map(idOf).toSorted()).toEqual(numbered(3));
  expect(messages.map((message) => message.header('Nats-Batch-Id'))).toEqual([undefined, undefined, undefined]);
});

test('dead letters: a batch with a letter that the log already has is stored one by one, each letter once', async () => {
  const destinationId = randomUUID();
  const { writer, retries } = write(destinationId);
  await writer.add(letter('e7'), 'e7', 'events 1.e7');
  await Promise.all(numbered(40).map((id) => writer.add(letter(id), id, `events 1.${id}`)));
  expect((await stored(destinationId)).map(idOf).toSorted()).toEqual(numbered(40).toSorted());
  expect(retries).toEqual(['refused']);
});
