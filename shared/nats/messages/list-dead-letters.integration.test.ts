import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { encodeDeadLetter } from '../../contracts/events/dead-letter.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { publish } from '../publish/publisher.ts';
import { deadLetterSubject } from '../../contracts/subjects.ts';
import { ensureTopology } from '../streams/topology.ts';
import { startTestNats } from '../../testing/servers.ts';
import type { DeadLetter, DeadLetterFilter } from '../../contracts/events/dead-letter.ts';
import { testTopology } from '../../testing/test-topology.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { listDeadLetters } from './list-dead-letters.ts';
import type { ListOptions } from './list-dead-letters.ts';

let nats: NatsServer;
let connection: LogConnection;
const destinationId = randomUUID();
let firstMs = 0;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'test' });
  await ensureTopology(connection, testTopology());
  firstMs = Date.now();
  for (let n = 0; n < 8; n += 1) {
    // Between two letters lies a letter of another destination.
    await bury(randomUUID(), n);
    await bury(destinationId, n);
  }
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

const letterOf = (destination: string, n: number): DeadLetter => ({
  v: 1,
  destinationId: destination,
  reason: n % 2 === 0 ? 'even' : 'odd',
  attempts: 1,
  firstAttemptAt: firstMs,
  lastAttemptAt: firstMs + n,
  event: sampleEvent({ id: String(n) }),
});

async function bury(destination: string, n: number): Promise<void> {
  const letter = encodeDeadLetter(letterOf(destination, n));
  await publish(connection, deadLetterSubject(destination), letter, { msgId: randomUUID(), timeoutMs: 30_000 });
}

const wide = { bytesMax: 1024 ** 2, timeMs: 600_000 };

/** The event ids of each page, joined to one string. */
async function pagesOf(filter: DeadLetterFilter, limit = 2, bounds = wide): Promise<string[]> {
  const pages: string[] = [];
  for (let beforeSeq: number | undefined; ;) {
    const page = await listDeadLetters(
      connection,
      destinationId,
      { limit, beforeSeq, filter },
      { ...bounds, isErased: () => false },
    );
    pages.push(page.letters.map(({ letter }) => letter.event.event.id).join(''));
    if (page.nextBeforeSeq === undefined) return pages;
    beforeSeq = page.nextBeforeSeq;
  }
}

test('list: newest first, page by page', async () => {
  expect(await pagesOf({})).toEqual(['76', '54', '32', '10']);
  expect(await pagesOf({}, 5)).toEqual(['76543', '210']);
  expect(await pagesOf({}, 100)).toEqual(['76543210']);
  expect(await listDeadLetters(connection, randomUUID(), { limit: 3 }, { ...wide, isErased: () => false })).toEqual({
    letters: [],
  });
});

test('list: a reason limits the list to dead letters with that reason', async () => {
  expect((await pagesOf({ reason: 'even' })).join('')).toBe('6420');
  expect(await pagesOf({ reason: 'none' })).toEqual(['']);
});

test('list: a time range limits the list to dead letters whose last attempt lies in the range', async () => {
  const from = (n: number): number => firstMs + n;
  expect((await pagesOf({ fromMs: from(2), toMs: from(5) })).join('')).toBe('432');
  expect((await pagesOf({ reason: 'odd', fromMs: from(3) })).join('')).toBe('753');
  expect(await pagesOf({ fromMs: firstMs + 3_600_000 })).toEqual(['']);
  expect(await pagesOf({ toMs: firstMs })).toEqual(['']);
});

test('list: a page that reaches its byte or time limit ends early, and the next page continues from there', async () => {
  const oneByOne = '76543210'.split('');
  const one = encodeDeadLetter(letterOf(destinationId, 7)).length;
  expect(await pagesOf({}, 100, { ...wide, bytesMax: 1 })).toEqual(oneByOne);
  expect(await pagesOf({}, 100, { ...wide, bytesMax: 3 * one })).toEqual(['765', '432', '10']);
  expect(await pagesOf({}, 100, { ...wide, timeMs: 0 })).toEqual(oneByOne);
  const even = await pagesOf({ reason: 'even' }, 100, { ...wide, bytesMax: 1 });
  expect(even).toEqual(['', '6', '', '4', '', '2', '', '0']);
});

test('list: letters of erased visitors are deleted, and not listed', async () => {
  const isErased = ({ event }: ResolvedEvent): boolean => event.id === '6' || event.id === '3';
  const idsFrom = async (options: ListOptions): Promise<string> => {
    const { letters } = await listDeadLetters(connection, destinationId, { limit: 100 }, options);
    return letters.map(({ letter }) => letter.event.event.id).join('');
  };
  expect(await idsFrom({ ...wide, isErased })).toBe('754210');
  expect(await idsFrom({ ...wide, isErased: () => false })).toBe('754210');
});
