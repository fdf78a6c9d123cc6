import { randomUUID } from 'node:crypto';
import { accountQueueConsumer, ingestOfAccount } from '../../../shared/contracts/subjects.ts';
import { endOfLine } from '../../../shared/contracts/events/frame.ts';
import { deleteConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { openFrameReader } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { quarantineReason } from '../worker/suspicion.ts';
import type { FramesAtWork } from '../worker/suspicion.ts';
import { Wakeup } from '../worker/wakeup.ts';
import { keepDeadLetters } from './dead-letters.ts';
import { readFrames } from './read-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import type { WaitingEvents, WaitingLines } from './waiting-events.ts';

/** Of a copy. As much as a queue holds in memory and not much more, since its frames are taken one by one. */
const copyBytesMax = 128 * 1024;
/** With so much of its account waiting in memory a queue is not read. */
const waitingBytesMax = 256 * 1024;
const bufferedMax = 2;
const ackPendingMax = 512;

/** Where a queue brings what it reads. */
export type QueueTarget = {
  readonly waiting: WaitingEvents;
  beginTurn(frames: FramesAtWork | undefined): void;
  /** Called when something was read, and when the queue may be closed. */
  onNews(): void;
};

/** Lines of a frame that follow each other, without the last line end. */
type Place = Pick<WaitingLines, 'bytes' | 'start' | 'end'>;

/** So many lines that are to be copied into the queue. */
type Copying = { readonly line: Buffer; readonly lines: number; onStored(): void };

const lineEnd = Buffer.from('\n');

/**
 * The queue of an account that has more accepted events in a partition than its part of the resolver's memory: copies of its
 * lines in a subject of its own, so that the frames they came in can be finished. They are read at the pace at which the
 * account is resolved. While there is one every line of the account goes through it, which keeps their order.
 *
 * After a crash lines may be copied again behind themselves. Deduplication drops the second copy: its event is known by then.
 * Large: not divided yet into copying, reading and removing.
 */
export class AccountQueue {
  readonly accountId: string;
  readonly unfinished = new UnfinishedFrames<LogMessage>();
  readonly #context: ResolverContext;
  readonly #target: QueueTarget;
  readonly #subject: string;
  /** Names its copies: those of another resolver are others, whatever they have. */
  readonly #id = randomUUID();
  #copies = 0;
  #copying: Copying[] = [];
  #copyRun: Promise<void> | undefined;
  /** Messages of its subject that were not read yet. */
  #unread = 0;
  /** Those of them that an earlier resolver copied. */
  #inherited = 0;
  /** Bytes of the others. */
  #copiedBytes = 0;
  #read = { messages: 0, bytes: 0 };
  #readSeq = 0;
  #reader: FrameReader | undefined;
  #isClosed = false;
  readonly #room = new Wakeup();

  constructor(context: ResolverContext, accountId: string, target: QueueTarget) {
    this.#context = context;
    this.accountId = accountId;
    this.#target = target;
    this.#subject = ingestOfAccount(context.partition, accountId);
  }

  /** Whether all that it was given was read: what comes now may wait in memory, behind that. */
  get isCaughtUp(): boolean {
    return !this.isCopying && this.#unread <= 0;
  }

  /**
   * Bytes of its messages that were not read yet. The log does not say how large those of an earlier resolver are: they count
   * as the mean of what was read.
   */
  get unreadBytes(): number {
    const { messages, bytes } = this.#read;
    return this.#copiedBytes + (this.#inherited * bytes) / Math.max(1, messages);
  }

  /** Whether something is on its way into it. */
  get isCopying(): boolean {
    return this.#copying.length > 0 || this.#copyRun !== undefined;
  }

  /** Whether nothing of it is left to be done. */
  get isDone(): boolean {
    return this.isCaughtUp && this.unfinished.size === 0;
  }

  /** Whether frames of it are suspected of what befell the actor before. */
  get isWatching(): boolean {
    return this.#reader?.isWatching === true && !this.isCaughtUp;
  }

  /** To be copied, behind what was given before. `onStored` is called once for each line, when it is in the log. */
  add({ bytes, start: from, end: to }: Place, onStored: () => void): void {
    for (let start = from; start < to;) {
      let [end, lines] = [endOfLine(bytes, start), 1];
      for (; end < to; lines += 1) {
        const next = endOfLine(bytes, end + 1);
        if (next - start > copyBytesMax) break;
        end = next;
      }
      this.#copying.push({ line: bytes.subarray(start, end), lines, onStored });
      start = end + 1;
    }
  }

  /** Copies what was given. Waits as long as the log takes none. */
  copy(): Promise<void> {
    if (!this.isCopying) return Promise.resolve();
    this.#copyRun ??= this.#copyAll().finally(() => {
      this.#copyRun = undefined;
    });
    return this.#copyRun;
  }

  /** So many messages of its subject are there from before. */
  noteUnread(messages: number): void {
    this.#unread += messages;
    this.#inherited += messages;
  }

  /** Opens its reader, which takes it away from the previous one. */
  async open(): Promise<void> {
    const { connection, logger, partition, settings, suspicion } = this.#context;
    this.#reader = await openFrameReader({
      connection,
      consumer: {
        stream: streams.ingest,
        name: accountQueueConsumer(partition, this.accountId),
        filterSubject: this.#subject,
        startFrom: 'first',
        placeIsKept: 'by-ids',
        ackWaitMs: settings.ackWaitMs,
        ackPendingMax,
      },
      bufferedMax,
      pullsAhead: false,
      logger,
      fields: { partition, accountId: this.accountId },
      beginTurn: (frames) => this.#target.beginTurn(frames),
      suspicion,
      quarantine: ({ data, seq }) => {
        this.#noteRead({ data, seq });
        const { accountId } = this;
        const letter = { payload: data, reason: quarantineReason, seq, line: undefined, accountId };
        return keepDeadLetters(this.#context, [letter]);
      },
    });
  }

  /** Reads until it is closed, as far ahead as there is room for. Throws when another reader has taken it over. */
  async read(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) return;
    await reader.whileKeeping(async () => {
      while (await this.#hasRoom()) if (!(await this.readOne())) return;
    });
  }

  /** Reads one frame; false once it is closed. */
  async readOne(): Promise<boolean> {
    const { waiting, onNews } = this.#target;
    const frames = (await this.#reader?.take(1)) ?? [];
    await readFrames(this.#context, frames, { waiting, unfinished: this.unfinished, areCounted: false });
    for (const frame of frames) this.#noteRead(frame);
    onNews();
    return frames.length > 0;
  }

  /** There is more room in memory. */
  noteRoom(): void {
    this.#room.ring();
  }

  /** Acknowledges what is finished. */
  finish(): void {
    this.#reader?.finish(this.unfinished.takeFinished());
  }

  /** Reads no more. What is not finished comes first with the next reader. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#room.ring();
    await this.#reader?.close();
  }

  /** Removes it from the log, once it is done and closed. */
  async remove(): Promise<void> {
    const { connection, partition } = this.#context;
    if (this.#readSeq > 0) await purgeSubject(connection, streams.ingest, this.#subject, this.#readSeq + 1);
    await deleteConsumer(connection, streams.ingest, accountQueueConsumer(partition, this.accountId));
  }

  #noteRead({ seq, data }: Pick<LogMessage, 'seq' | 'data'>): void {
    this.#unread -= 1;
    this.#read.messages += 1;
    this.#read.bytes += data.length;
    // Read in the order of the log: what an earlier resolver copied comes first.
    if (this.#inherited > 0) this.#inherited -= 1;
    else this.#copiedBytes = Math.max(0, this.#copiedBytes - data.length);
    this.#readSeq = Math.max(this.#readSeq, seq);
  }

  async #hasRoom(): Promise<boolean> {
    const { waiting } = this.#target;
    while (!this.#isClosed && waiting.bytesOf(this.accountId) >= waitingBytesMax) await this.#room.wait();
    return !this.#isClosed;
  }

  async #copyAll(): Promise<void> {
    while (this.#copying.length > 0) {
      const copies = this.#takeCopy();
      const payload = Buffer.concat(copies.flatMap(({ line }) => [line, lineEnd]));
      this.#copies += 1;
      const msgId = `${this.#id}.${this.#copies}`;
      await this.#context.writer.publish({ subject: this.#subject, payload, msgId });
      this.#unread += 1;
      this.#copiedBytes += payload.length;
      this.#context.counts.queued_bytes += payload.length;
      for (const { lines, onStored } of copies) for (let line = 0; line < lines; line += 1) onStored();
    }
  }

  /** As much of what is to be copied as one message has. */
  #takeCopy(): readonly Copying[] {
    let [bytes, count] = [0, 0];
    for (const { line } of this.#copying) {
      bytes += line.length + 1;
      if (count > 0 && bytes > copyBytesMax) break;
      count += 1;
    }
    return this.#copying.splice(0, count);
  }
}
