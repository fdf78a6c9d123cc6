import { onTestFinished, expect, test } from 'vitest';
import { retryTier } from '../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../shared/contracts/events/retry-record.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { answeredError, serverErrors } from '../../../shared/nats/connection/server-error.ts';
import { ConsumerTakenError } from '../../../shared/nats/consume/consumers.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import { createDispatcherCounts } from './dispatcher-stats.ts';
import { HeldReferences } from './events/held-references.ts';
import { openRetryLog } from './open-retry-log.ts';
import type { RetryFrame } from './sources/retry-reader.ts';
import { unlimitedRetries } from './testing/unlimited-retries.ts';

/** RETRY in memory. */
class ScriptedLog {
  readonly messages = new Map<number, { readonly subject: string; readonly data: Uint8Array }>();
  /** Answers to publishes wait for this. */
  answers: Promise<unknown> = Promise.resolve();
  #lastSeq = 0;

  readonly connection = {
    connected: true,
    [client]: {
      asker: {
        ask: async (subject: string, data: Uint8Array) => {
          const seq = (this.#lastSeq += 1);
          this.messages.set(seq, { subject, data });
          await this.answers;
          return { data: Buffer.from(JSON.stringify({ stream: streams.retry, seq })) };
        },
      },
      jsm: {
        streams: {
          info: async () => ({ state: { subjects: {} } }),
          purge: async (_: string, { filter, seq = Infinity }: { readonly filter: string; readonly seq?: number }) => {
            for (const [at, { subject }] of this.messages) if (subject === filter && at < seq) this.messages.delete(at);
            return { purged: 0 };
          },
          getMessage: async (_: string, wanted: { readonly seq: number; readonly next_by_subj: string }) => {
            const found = [...this.messages].find(
              ([seq, { subject }]) => seq >= wanted.seq && subject === wanted.next_by_subj,
            );
            if (found !== undefined) return { seq: found[0], ...found[1], time: new Date(0), header: new Map() };
            const error = { code: 404, err_code: serverErrors.noMessageFound, description: 'no message found' };
            throw answeredError({ data: Buffer.from(JSON.stringify({ error })) } as never);
          },
        },
      },
    },
  } as unknown as LogConnection;

  /** Loses the messages after `seq`, as a server does whose files end too early. */
  endAt(seq: number): void {
    for (const at of this.messages.keys()) if (at > seq) this.messages.delete(at);
    this.#lastSeq = seq;
  }
}

const tier = retryTier(0);

/** A retry log without an order of visitors; `frames` contains the due frames that were read. */
async function open(confirm: () => Promise<void> = () => Promise.resolve()) {
  const log = new ScriptedLog();
  const { connection } = log;
  const references = new HeldReferences();
  const destinationId = 'd';
  const options = {
    connection,
    destinationId,
    accountId: 'a',
    settings: { retryQuota: { bytesMax: 2 ** 40, account: 1, all: 1 } },
    retryUse: () => unlimitedRetries,
    referencedEvents: { load: async (_: unknown, wanted: readonly unknown[]) => wanted.map(() => ({ kind: 'gone' })) },
  } as unknown as DispatcherOptions;
  const warn = (error: unknown): never => expect.unreachable(String(error));
  const { retries, retryWriter } = await openRetryLog(options, createDispatcherCounts(), {
    keepsOrder: false,
    references,
    comesAgain: () => false,
    writing: { connection, destinationId, signal: new AbortController().signal, onRetry: () => undefined, confirm },
    warn,
  });
  const frames: RetryFrame[] = [];
  const reading = (async () => {
    for await (const frame of retries.due()) frames.push(frame);
  })();
  onTestFinished(async () => {
    await retries.stop();
    await reading;
  });
  retries.open();
  const add = (eventId: string) => retryWriter.add(tier, recordOf(eventId), false);
  const read = async (count: number): Promise<string[]> => {
    await expect.poll(() => frames.length).toBe(count);
    return frames.flatMap(({ content }) =>
      content.kind === 'records' ? content.records.map(({ record }) => record.eventId) : [],
    );
  };
  const finish = (index: number): void => {
    const frame = frames[index];
    if (frame !== undefined) retries.finished(frame);
  };
  return { log, references, retries, add, read, finish };
}

const recordOf = (eventId: string): RetryRecord => ({
  attempts: 1,
  reason: 'test',
  firstAttemptAt: 1,
  lastAttemptAt: 1,
  notBefore: 1,
  visitorId: 'ann',
  eventId,
  receivedAt: 1,
  bytes: 100,
  origin: { seq: 7, line: 0 },
});

test('retry log: the late answer for a frame that is already settled holds no frame of EVENTS', async () => {
  const { log, references, retries, add, read, finish } = await open();
  let answer: (value?: unknown) => void = () => undefined;
  log.answers = new Promise((resolve) => (answer = resolve));
  const stored = add('one');
  await expect.poll(() => log.messages.size).toBe(1);
  retries.stored(tier);
  await read(1);
  expect(references.oldest).toBe(7);
  finish(0);
  answer();
  expect(await stored).toMatchObject({ seq: 1 });
  expect(references.oldest).toBeUndefined();
});

test('retry log: after the log has lost its end, frames with sequences that were read before are read', async () => {
  const { log, references, add, read, finish } = await open();
  for (const [index, id] of ['one', 'two', 'three'].entries()) {
    await add(id);
    await read(index + 1);
  }
  finish(1);
  log.endAt(1);
  await add('four');
  expect(await read(4)).toEqual(['one', 'two', 'three', 'four']);
  await add('five');
  expect(await read(5)).toContain('five');
  // 'three' and 'five' have the same sequence.
  for (const index of [0, 3, 2]) finish(index);
  expect(references.oldest).toBe(7);
  finish(4);
  expect(references.oldest).toBeUndefined();
  await expect.poll(() => log.messages.size, { timeout: 5_000 }).toBe(0);
});

test('retry log: a dispatcher that lost its destination stores no event, because the next dispatcher has it too', async () => {
  const { log, add } = await open(() => Promise.reject(new ConsumerTakenError('taken')));
  await expect(add('one')).rejects.toThrow(ConsumerTakenError);
  expect(log.messages.size).toBe(0);
});

test('held references: a message with a sequence of a lost message replaces its reference', () => {
  const references = new HeldReferences();
  references.stored(1, [5]);
  references.stored(1, [9]);
  references.stored(2, [8]);
  expect(references.oldest).toBe(8);
  references.stored(2, []);
  expect(references.oldest).toBe(9);
});
