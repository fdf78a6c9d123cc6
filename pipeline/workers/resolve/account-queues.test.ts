import { randomUUID } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { envelopeHead, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { ingestOfAccount } from '../../../shared/contracts/subjects.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { answeredError, serverErrors } from '../../../shared/nats/connection/server-error.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { noSuspicion } from '../worker/suspicion.ts';
import type { Suspicion } from '../worker/suspicion.ts';
import { AccountQueues } from './account-queues.ts';
import { readFrames } from './read-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { WaitingEvent } from './waiting-events.ts';

const partition = 1;
const account = randomUUID();
const subject = ingestOfAccount(partition, account);

type Deliver = (error: null, message: unknown) => void;
type Pull = { readonly deliver: Deliver; left: number };

/** A log with the queue of one account, and one consumer, whose first `acked` messages are acknowledged. */
class QueueLog {
  readonly messages: Buffer[] = [];
  readonly purgedBefore: number[] = [];
  readonly letters: string[] = [];
  readonly acked: number;
  purge: Promise<void> = Promise.resolve();
  #config: object | undefined;
  #given: number;
  #delivered = 0;
  readonly #inboxes = new Map<string, Deliver>();
  #pull: Pull | undefined;

  constructor(messages: readonly Buffer[] = [], acked = 0) {
    this.messages.push(...messages);
    this.acked = acked;
    this.#given = acked;
    if (messages.length > 0) this.#config = { durable_name: 'queue', filter_subject: subject, mem_storage: true };
  }

  get lines(): number {
    return this.messages.reduce((sum, data) => sum + data.toString().split('\n').length - 1, 0);
  }

  readonly writer = {
    publish: async (message: { readonly subject: string; readonly payload: Uint8Array }) => {
      await nextRound();
      if (message.subject === subject) this.messages.push(Buffer.from(message.payload));
      else this.letters.push(Buffer.from(message.payload).toString());
      this.#deliver();
      return { seq: this.messages.length, duplicate: false };
    },
  };

  readonly connection = {
    connected: true,
    messageBytesMax: 1024 ** 2,
    onReconnect: () => () => undefined,
    [client]: {
      createInbox: () => randomUUID(),
      nc: {
        isClosed: () => false,
        subscribe: (inbox: string, { callback }: { readonly callback: Deliver }) => {
          this.#inboxes.set(inbox, callback);
          return { unsubscribe: () => this.#inboxes.delete(inbox) };
        },
        publish: (to: string, body: string, { reply = '' } = {}) => {
          if (to.startsWith('$JS.API.CONSUMER.MSG.NEXT')) void this.#ask(JSON.parse(body), reply);
        },
      },
      jsm: {
        consumers: {
          info: async () => this.#info(),
          add: (_: string, config: object) => this.#configure(config),
          update: (_: string, __: string, config: object) => this.#configure(config),
          delete: async () => {
            [this.#config, this.#pull, this.#delivered] = [undefined, undefined, 0];
          },
          list: () => (this.#config === undefined ? [] : [this.#info()]),
        },
        streams: {
          info: async () => ({
            state: { subjects: this.messages.length > 0 ? { [subject]: this.messages.length } : {} },
          }),
          purge: async (_: string, { seq }: { readonly seq: number }) => {
            await this.purge;
            this.purgedBefore.push(seq);
            return { purged: 0 };
          },
        },
      },
    },
  };

  async #configure(config: object): Promise<object> {
    this.#config = config;
    return this.#info();
  }

  #info(): object {
    if (this.#config === undefined) {
      const error = { code: 404, err_code: serverErrors.consumerNotFound, description: 'none' };
      throw answeredError({ data: Buffer.from(JSON.stringify({ error })) } as never);
    }
    return {
      name: `queue-${partition}-${account}`,
      config: this.#config,
      created: new Date().toISOString(),
      ack_floor: { stream_seq: this.acked, consumer_seq: 0 },
      delivered: { stream_seq: this.acked, consumer_seq: 0 },
      num_pending: this.messages.length - this.acked,
      num_ack_pending: 0,
      num_waiting: 0,
    };
  }

  async #ask({ batch, no_wait: isShort = false }: { batch: number; no_wait?: boolean }, inbox: string): Promise<void> {
    await nextRound();
    const deliver = this.#inboxes.get(inbox);
    if (deliver === undefined) return;
    this.#pull = { deliver, left: batch };
    this.#deliver();
    if (!isShort || this.#pull === undefined) return;
    this.#pull = undefined;
    deliver(null, { headers: { code: 404, description: 'No Messages' } });
  }

  #deliver(): void {
    for (let pull = this.#pull; pull !== undefined && this.#given < this.messages.length; pull = this.#pull) {
      const data = this.messages[this.#given];
      this.#given += 1;
      this.#delivered += 1;
      pull.left -= 1;
      if (pull.left === 0) this.#pull = undefined;
      const reply = `$JS.ACK.INGEST.queue.1.${this.#given}.${this.#delivered}.${Date.now() * 1e6}.0`;
      pull.deliver(null, { subject, data, reply, headers: undefined });
    }
  }
}

const lineBytes = 40_000;

function linesOf(lines: number): Buffer {
  const writer = new FrameWriter();
  const prefix = envelopePrefix({ account, source: 'source-1', test: false });
  for (let line = 0; line < lines; line += 1) {
    const head = envelopeHead(prefix, {
      kind: 'track',
      id: randomUUID(),
      at: 1,
      ip: undefined,
      ua: undefined,
      bot: undefined,
      gpc: undefined,
    });
    writer.appendEnvelope(
      head,
      Buffer.from(JSON.stringify({ event: 'E', properties: { pad: 'x'.repeat(lineBytes) } })),
    );
  }
  return Buffer.from(writer.bytes());
}

type RigOptions = { readonly log?: QueueLog; readonly suspicion?: Suspicion; confirm?(): Promise<void> };

/** The queues of a partition with room for two lines, and what a resolver does with them. */
function openRig({ log = new QueueLog(), suspicion = noSuspicion, confirm = async () => undefined }: RigOptions = {}) {
  const context = {
    partition,
    connection: log.connection,
    writer: log.writer,
    settings: { waitingBytesMax: 2 * lineBytes, framesInFlightMax: 64, ackWaitMs: 10_000 },
    logger: pino({ level: 'silent' }),
    counts: { queued_bytes: 0, events: 0, dead_letters: 0 },
    suspicion,
    isOnlyAccount: () => false,
    beginTurn: () => undefined,
  } as unknown as ResolverContext;
  const waiting = new WaitingEvents({ eventsMax: 100, accountEventsMax: 4 });
  const unfinished = new UnfinishedFrames<LogMessage>();
  const failures: unknown[] = [];
  const target = { beginTurn: () => undefined, confirm, onNews: () => undefined };
  const onFailure = (error: unknown): void => void failures.push(error);
  const queues = new AccountQueues({ context, waiting, unfinished, target, onFailure });
  const writes = { events: [] as readonly WaitingEvent[], accountsApart: new Set<string>() };
  const publisher = { published: Promise.resolve() };
  let seq = 0;
  const rig = {
    log,
    queues,
    waiting,
    unfinished,
    failures,
    writes,
    publisher,
    /** Reads a frame of the partition. */
    async read(lines: number): Promise<LogMessage> {
      seq += 1;
      const frame = { seq, data: linesOf(lines), storedAtMs: 1 } as unknown as LogMessage;
      const add: WaitingEvents['add'] = (found) => void (queues.take(found) || waiting.add(found));
      await readFrames(context, [frame], { waiting: { add, addLetters: () => undefined }, unfinished });
      return frame;
    },
    /** Takes the next batch, whose events are being written from now on. */
    begin(): readonly WaitingEvent[] {
      const { events } = waiting.next();
      queues.noteRoom();
      writes.events = [...writes.events, ...events];
      return events;
    },
    /** The events are in EVENTS. */
    end(events: readonly WaitingEvent[]): void {
      writes.events = writes.events.filter((event) => !events.includes(event));
      for (const event of events) {
        if (queues.wasReleased(event)) continue;
        if (unfinished.has(event.origin.frame)) unfinished.done(event.origin.frame);
        else queues.done(event);
      }
      queues.finish();
    },
    /** Resolves `events` events, once they are read. */
    async resolve(events: number): Promise<void> {
      for (let left = events; left > 0;) {
        await vi.waitFor(() => expect(waiting.isEmpty).toBe(false));
        const batch = rig.begin();
        rig.end(batch);
        left -= batch.length;
      }
    },
  };
  return rig;
}

function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

test('account queues: events that are done while an earlier queue is closed are not copied, and their frame is finished', async () => {
  const rig = openRig();
  const { queues, log, unfinished, writes, publisher } = rig;
  queues.start();
  const first = await rig.read(6);
  expect(await queues.moveFlood(writes, publisher)).toBe(true);
  expect(unfinished.takeFinished()).toEqual([first]);
  const purge = deferred();
  log.purge = purge.promise;
  await rig.resolve(6);
  expect(queues.size).toBe(0);
  const second = await rig.read(12);
  const written = rig.begin();
  const moving = queues.moveFlood(writes, publisher);
  await nextRound();
  publisher.published = Promise.resolve();
  rig.end(written);
  purge.resolve();
  expect(await moving).toBe(true);
  expect(log.lines).toBe(6 + 12 - written.length);
  await rig.resolve(12 - written.length);
  expect(unfinished.takeFinished()).toEqual([second]);
  await queues.close();
});

test('account queues: lines are copied only once all earlier events of the account are in EVENTS', async () => {
  const rig = openRig();
  const { queues, log, writes, publisher } = rig;
  await rig.read(12);
  const written = rig.begin();
  const [earlier, later] = [deferred(), deferred()];
  publisher.published = earlier.promise;
  const moving = queues.moveFlood(writes, publisher);
  // The visitors are written while the events of another batch are published.
  writes.events = [];
  publisher.published = later.promise;
  earlier.resolve();
  for (let round = 0; round < 10; round += 1) await nextRound();
  expect(log.lines).toBe(0);
  rig.end(written);
  later.resolve();
  expect(await moving).toBe(true);
  expect(log.lines).toBe(12 - written.length);
  await queues.close();
});

test('account queues: a queue whose lines waited in memory is read on, even if no other account sends events', async () => {
  const rig = openRig();
  const { queues, waiting, writes, publisher, log } = rig;
  queues.start();
  await rig.read(9);
  expect(await queues.moveFlood(writes, publisher)).toBe(true);
  await vi.waitFor(() => expect(waiting.bytesOf(account)).toBeGreaterThan(9 * lineBytes));
  // The queue is read to its end; later lines wait in memory behind its own, so that it may not be read.
  await rig.read(10);
  expect(log.lines).toBe(9);
  for (let batch = 0; batch < 2; batch += 1) {
    rig.end(rig.begin());
    await nextRound();
  }
  // The last line of the queue and three later ones are being written.
  rig.begin();
  await nextRound();
  expect(await queues.moveFlood(writes, publisher)).toBe(true);
  expect([log.lines, queues.size]).toEqual([9 + 10, 1]);
  await vi.waitFor(() => expect(waiting.bytesOf(account)).toBeGreaterThan(0));
  await queues.close();
});

test('account queues: a frame is finished only once this resolver is known to have owned the partition when its lines were copied', async () => {
  const confirmed = deferred();
  const rig = openRig({ confirm: () => confirmed.promise.then(() => Promise.reject(new Error('taken over'))) });
  const { queues, writes, publisher, unfinished, log } = rig;
  await rig.read(3);
  const moving = queues.moveFlood(writes, publisher);
  await vi.waitFor(() => expect(log.lines).toBe(3));
  await nextRound();
  expect(unfinished.takeFinished()).toEqual([]);
  confirmed.resolve();
  await expect(moving).rejects.toThrow('taken over');
  expect(unfinished.takeFinished()).toEqual([]);
  await queues.close();
});

test('account queues: a quarantined message at the end of a queue does not hold up the resolver', async () => {
  const log = new QueueLog([linesOf(1)]);
  const suspicion = { ...noSuspicion, log: { watched: { from: 1, to: 1 }, quarantined: [{ seq: 1 }] } };
  const { queues, waiting } = openRig({ log, suspicion });
  await queues.open();
  const [queue] = queues.watching;
  expect(await queue?.readOne()).toBe(true);
  expect([queue?.isWatching, waiting.isEmpty, log.letters]).toEqual([false, true, [log.messages[0]?.toString()]]);
  await queues.close();
});

test('account queues: a queue of an earlier resolver whose messages are all acknowledged is removed with its messages', async () => {
  const log = new QueueLog([linesOf(1), linesOf(1)], 2);
  const { queues } = openRig({ log });
  await queues.open();
  queues.start();
  await queues.close();
  expect([log.purgedBefore, queues.size]).toEqual([[3], 0]);
});
