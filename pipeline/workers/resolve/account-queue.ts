import { accountQueueConsumer, ingestOfAccount } from '../../../shared/contracts/subjects.ts';
import { deleteConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import type { ConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { openFrameReader } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { isQuarantined, quarantineReason } from '../worker/suspicion.ts';
import type { FramesAtWork } from '../worker/suspicion.ts';
import { Wakeup } from '../worker/wakeup.ts';
import { keepDeadLetters } from './dead-letters.ts';
import { QueueCopies } from './queue-copies.ts';
import { readFrames } from './read-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { UnreadMessages } from './unread-messages.ts';
import type { WaitingEvents } from './waiting-events.ts';

/**
 * A queue is not read while this many bytes of its account's events wait in memory. The limit of the partition is a
 * setting.
 */
const accountWaitingBytesMax = 256 * 1024;
const bufferedMax = 2;
const ackPendingMax = 512;

/** The receiver of a queue's frames. */
export type QueueTarget = {
  readonly waiting: WaitingEvents;
  beginTurn(frames: FramesAtWork | undefined): void;
  /** Throws if another resolver owns the partition. */
  confirm(): Promise<void>;
  /** Called after a read, and when the queue may be closed. */
  onNews(): void;
};

/**
 * The queue of an account whose accepted events in a partition need more than its share of the resolver's memory. It
 * copies the account's lines to a separate subject, so that their frames can be finished, and reads them as fast as the
 * account is resolved. While the queue exists, every line of the account goes through it, which keeps their order.
 *
 * After a crash lines may be copied a second time. Deduplication drops the second copy: its event is known by then.
 */
export class AccountQueue {
  readonly accountId: string;
  readonly unfinished = new UnfinishedFrames<LogMessage>();
  readonly #context: ResolverContext;
  readonly #target: QueueTarget;
  readonly #subject: string;
  readonly #copies: QueueCopies;
  readonly #unread = new UnreadMessages();
  #reader: FrameReader | undefined;
  #isClosed = false;
  readonly #room = new Wakeup();

  constructor(context: ResolverContext, accountId: string, target: QueueTarget) {
    this.#context = context;
    this.accountId = accountId;
    this.#target = target;
    this.#subject = ingestOfAccount(context.partition, accountId);
    this.#copies = new QueueCopies((payload, msgId) => this.#publish(payload, msgId));
  }

  /** Whether all copied lines were read: later events may then wait in memory, after the copied ones. */
  get isCaughtUp(): boolean {
    return !this.isCopying && this.#unread.isEmpty;
  }

  /** Bytes of the messages that the queue has not read yet. */
  get unreadBytes(): number {
    return this.#unread.bytes;
  }

  /** Whether lines wait to be copied to the queue's subject, or are being copied. */
  get isCopying(): boolean {
    return this.#copies.isCopying;
  }

  /** Whether the queue has no work left. */
  get isDone(): boolean {
    return this.isCaughtUp && this.unfinished.size === 0;
  }

  /** Whether the queue may still hold frames that are suspected of having ended an earlier actor. */
  get isWatching(): boolean {
    return this.#reader?.isWatching === true && !this.isCaughtUp;
  }

  /** Adds lines to be copied after earlier ones. `onStored` is called once for each line, when the log has it. */
  add(lines: Parameters<QueueCopies['add']>[0], onStored: () => void): void {
    this.#copies.add(lines, onStored);
  }

  /** Copies the added lines to the queue's subject. Waits as long as the log refuses them. */
  copy(): Promise<void> {
    return this.#copies.copy();
  }

  /** Records which messages that an earlier resolver copied to the queue's subject are still unread. */
  inherit({ waiting, unacknowledged, ackedSeq }: ConsumerProgress): void {
    this.#unread.inherit(waiting + unacknowledged, ackedSeq);
  }

  /** Opens the queue's reader, which takes the consumer away from the previous reader. */
  async open(): Promise<void> {
    const { connection, logger, partition, settings, suspicion } = this.#context;
    // `readOne` quarantines messages: the reader would then wait for the next one, and there may be none.
    const { watched } = suspicion.log;
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
      suspicion: { ...suspicion, log: { watched, quarantined: [] } },
    });
  }

  /** Reads, as far ahead as memory allows, until the queue is closed. Throws when another reader has taken it over. */
  async read(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) return;
    await reader.whileKeeping(async () => {
      while (await this.#hasRoom()) if (!(await this.readOne())) return;
    });
  }

  /** Reads one frame. Returns false once the queue is closed. */
  async readOne(): Promise<boolean> {
    const { waiting, onNews } = this.#target;
    const [frame] = (await this.#reader?.take(1)) ?? [];
    if (frame === undefined) return false;
    if (isQuarantined(this.#context.suspicion.log, frame.seq)) await this.#quarantine(frame);
    else await readFrames(this.#context, [frame], { waiting, unfinished: this.unfinished, areCounted: false });
    this.#unread.read(frame.seq, frame.data.length);
    onNews();
    return true;
  }

  /** Call when memory has become free: reading continues. */
  noteRoom(): void {
    this.#room.ring();
  }

  /** Acknowledges finished messages. */
  finish(): void {
    this.#reader?.finish(this.unfinished.takeFinished());
  }

  /** Stops reading. The next reader receives the unfinished messages first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#room.ring();
    await this.#reader?.close();
  }

  /** Removes the queue from the log. Call once it has no work left and is closed. */
  async remove(): Promise<void> {
    const { connection, partition } = this.#context;
    const { readSeq } = this.#unread;
    if (readSeq > 0) await purgeSubject(connection, streams.ingest, this.#subject, readSeq + 1);
    await deleteConsumer(connection, streams.ingest, accountQueueConsumer(partition, this.accountId));
  }

  async #hasRoom(): Promise<boolean> {
    const { waiting } = this.#target;
    while (!this.#isClosed && waiting.bytesOf(this.accountId) >= accountWaitingBytesMax) await this.#room.wait();
    return !this.#isClosed;
  }

  async #quarantine(frame: LogMessage): Promise<void> {
    const { accountId } = this;
    const { data: payload, seq } = frame;
    await keepDeadLetters(this.#context, [{ payload, reason: quarantineReason, seq, line: undefined, accountId }]);
    this.#reader?.finish([frame]);
  }

  async #publish(payload: Buffer, msgId: string): Promise<void> {
    await this.#context.writer.publish({ subject: this.#subject, payload, msgId });
    this.#unread.copied(payload.length);
    this.#context.counts.queued_bytes += payload.length;
    // The next owner of the partition lists the queues once, at its start: before frames of these lines are finished,
    // this resolver must still be the owner.
    await this.#target.confirm();
  }
}
