import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeDeadLetter, ingestDeadLetterHeaders } from '../../../shared/contracts/events/dead-letter.ts';
import { encodeAccountConfig } from '../../../shared/contracts/config/account-config.ts';
import {
  accountKey,
  deadLetterSubject,
  ingestDeadLetterSubject,
  ingestSubject,
} from '../../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../../shared/nats/buckets/replay-store.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { testAccountConfig } from '../../../shared/testing/test-account-config.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { chosenIngestLetters, deleteIngestLetter } from './ingest-letters.ts';
import { runDeadLetters } from './run-command.ts';
import type { DeadLettersRequest } from './run-command.ts';

let nats: NatsServer;
let connection: LogConnection;
/** In its environment the command is run for dead letters of ingest. */
let pipeline: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'test' });
  await ensureTopology(connection, testTopology({ partitions: 2 }));
  await openBuckets(connection, 1);
  pipeline = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'test' });
});
afterAll(async () => {
  await Promise.all([connection.close(), pipeline.close()]);
  await nats.stop();
});

async function run(
  action: DeadLettersRequest['action'],
  of: string,
  choice: DeadLettersRequest['choice'] = {},
): Promise<readonly string[]> {
  const said: string[] = [];
  const login = of === 'ingest' ? pipeline : connection;
  await runDeadLetters({ connection: login, replicas: 1, say: (line) => said.push(line) }, { action, of, choice });
  return said;
}

async function keep(partition: number, origin: string, text: string, part?: string, reason = 'why'): Promise<void> {
  // Dead letters of whole frames and of earlier builds have a subject without an account.
  const accountId = partition === 0 ? undefined : 'account-1';
  await publish(connection, ingestDeadLetterSubject(partition, accountId), Buffer.from(text), {
    msgId: randomUUID(),
    timeoutMs: 5_000,
    headers: {
      [ingestDeadLetterHeaders.reason]: reason,
      [ingestDeadLetterHeaders.origin]: origin,
      ...(part === undefined ? {} : { [ingestDeadLetterHeaders.part]: part }),
    },
  });
}

test('dead letters of ingest: are listed without their content, put back unchanged, and deleted', async () => {
  await keep(0, '7.0', 'a line');
  // Between the two parts of a letter, another partition writes.
  await keep(0, '8', 'first ', '1/2');
  await keep(1, '9', 'end of another', '2/2');
  await keep(0, '8', 'second\n', '2/2');
  await keep(1, '10', 'quarantined\n', undefined, 'deadly');
  const listed = await run('list', 'ingest');
  expect(listed.at(-1)).toBe('4 kept');
  expect(listed.join('\n')).toMatch(/partition 0\t7\.0\t6 bytes\twhy/);
  expect(listed.join('\n')).toMatch(/partition 1\t9\tincomplete\twhy/);
  expect(listed.join('\n')).not.toMatch(/a line/);
  expect(await run('delete', 'ingest', { reason: 'deadly' })).toEqual(['1 deleted']);
  expect(await run('retry', 'ingest')).toEqual(['2 put back into INGEST, 1 left: parts of them are gone']);
  const texts: string[] = [];
  for (let seq = 1; ;) {
    const found = await readNext(connection, streams.ingest, ingestSubject(0), seq);
    if (found === undefined) break;
    texts.push(Buffer.from(found.data).toString());
    seq = found.seq + 1;
  }
  expect(texts).toEqual(['a line\n', 'first second\n']);
  expect((await run('list', 'ingest')).at(-1)).toBe('1 kept');
  expect(await run('delete', 'ingest', { toMs: Date.now() - 60_000 })).toEqual(['0 deleted']);
});

test('dead letters of ingest: a letter that is stored during a retry is not part of it', async () => {
  for (const origin of ['20', '21']) await keep(0, origin, 'fails\n', undefined, 'again');
  let found = 0;
  for await (const letter of chosenIngestLetters(connection, { reason: 'again' })) {
    found += 1;
    await deleteIngestLetter(connection, letter);
    if (found < 5) await keep(0, `3${found}`, 'fails\n', undefined, 'again');
  }
  expect(found).toBe(2);
  expect(await run('delete', 'ingest', { reason: 'again' })).toEqual(['2 deleted']);
});

test('dead letters of a deleted destination: are listed and deleted, or stay until the destination is back', async () => {
  const destinationId = randomUUID();
  const atMs = Date.now();
  for (const [id, reason] of [
    ['e1', 'status 400'],
    ['e2', 'gone'],
  ] as const) {
    const attempt = { attempts: 1, firstAttemptAt: atMs, lastAttemptAt: atMs };
    const event = sampleEvent({ id, account_id: 'account-1' });
    const answer = { status: 400, code: 'no', message: 'no email', headers: {}, body: 'no email of ann@example.com' };
    const exchange = { request: { method: 'POST', url: 'https://example.com/', headers: {}, events: 1 }, answer };
    const own = id === 'e1' ? { exchange } : {};
    const payload = encodeDeadLetter({ v: 1, destinationId, reason, ...attempt, ...own, event });
    await publish(connection, deadLetterSubject(destinationId), payload, { msgId: randomUUID(), timeoutMs: 5_000 });
  }
  const listed = await run('list', destinationId);
  expect(listed).toEqual([
    expect.stringMatching(/\te2\tOrder Completed\t1 attempt\tgone$/),
    expect.stringMatching(/\te1\tOrder Completed\t1 attempt\tstatus 400\tno: no email$/),
    '2 kept',
  ]);
  const seq = Number(listed[1]?.split('\t')[0]);
  const [shown = ''] = await run('show', destinationId, { seq });
  expect(JSON.parse(shown)).toMatchObject({
    seq,
    event: { id: 'e1' },
    last: { answer: { body: 'no email of ann@example.com' } },
  });
  await expect((async () => run('show', randomUUID(), { seq }))()).rejects.toThrow(/no live destination has the id/);
  await expect((async () => run('show', destinationId, { seq: 999 }))()).rejects.toThrow(/has no dead letter 999/);
  expect(await run('delete', destinationId, { reason: 'gone' })).toEqual(['1 deleted']);
  const [said = ''] = await run('retry', destinationId);
  const [job] = await createReplayStore((await openBuckets(connection, 1)).replays).list(destinationId);
  expect(job).toMatchObject({ accountId: 'account-1', state: 'waiting', request: { what: 'dead-letters' } });
  expect(said).toContain(job?.id);
  const config = testAccountConfig({ destinations: [{ id: destinationId, name: 'Meta, EU' }] });
  const { config: bucket } = await openBuckets(connection, 1);
  await bucket.put(accountKey(config.accountId), encodeAccountConfig(config));
  expect((await run('list', 'meta, eu')).at(-1)).toBe('1 kept');
  await expect(run('list', 'Mta, EU')).rejects.toThrow('no live destination has the id or the name Mta, EU, and');
  await expect(run('delete', 'Mta, EU')).rejects.toThrow('did you mean Meta, EU?');
  await expect((async () => run('list', destinationId, { seq: 1 }))()).rejects.toThrow(/--seq is for ingest and show/);
});
