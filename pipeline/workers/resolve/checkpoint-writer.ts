import { lastStored, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { PublishError, expectedLastHeader, publish } from '../../../shared/nats/publish/publisher.ts';
import { deduplicationSubject } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { checkpointHeader, encodeCheckpointHead, encodeRuns } from '../../../shared/contracts/events/checkpoint.ts';
import type { CheckpointHead, IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { deduplicationStepMs } from './deduplication.ts';
import { bytesPerHash } from '../../../shared/contracts/events/event-hash.ts';
import type { ResolverContext } from './resolver-context.ts';

/** Ids of one frame that stands in EVENTS, not in a checkpoint yet. */
export type NotedFrame = {
  /** Of the frame in EVENTS; grows from one to the next. */
  readonly seq: number;
  readonly msgId: string;
  /** Packed. */
  readonly ids: Uint8Array;
  /** When deduplication recorded them. */
  readonly timeMs: number;
};

/** A checkpoint that the table still needs. */
export type HeldCheckpoint = { readonly seq: number; readonly ids: number; readonly timeMs: number };

/** What is known of a partition's checkpoints when their writing begins. */
export type CheckpointStart = {
  /** When EVENTS was made. */
  readonly log: string;
  /** Up to here in EVENTS, checkpoints have the ids of the partition. */
  readonly coveredTo: number;
  readonly witness: CheckpointHead['witness'];
  /** Oldest first. */
  readonly held: readonly HeldCheckpoint[];
  /** Sequence of the newest checkpoint of the partition, 0 without one. */
  readonly lastSeq: number;
};

export class CheckpointsTakenOverError extends Error {
  readonly code = 'checkpoints_taken_over';
}

type Unanswered = {
  readonly msgId: string;
  readonly head: CheckpointHead;
  readonly payload: Uint8Array;
  readonly ids: number;
  readonly timeMs: number;
};

/** Frames that may wait to be written. When the log takes no checkpoint for long, a start has to read more of EVENTS. */
const framesWaitingMax = 500_000;
/** Checkpoints that are not needed any more are removed so many at a time. */
const removedAtOnce = 64;
/** Ids are kept for so much longer than the table needs them, that one which is filled from them is no smaller. */
const spare = 1 / 16;

/**
 * Writes down what deduplication remembers, so that a start need not read a day of EVENTS: every few seconds the ids of
 * the frames written since. Each checkpoint names the one it follows, so of two resolvers of a partition only one can
 * go on writing. None of it holds up an event, and what is not written costs a longer start only.
 * Large: not divided yet into what is collected and what is written.
 */
export class CheckpointWriter {
  readonly #context: ResolverContext;
  readonly #subject: string;
  readonly #name = crypto.randomUUID();
  readonly #log: string;
  readonly #held: HeldCheckpoint[];
  readonly #waiting: NotedFrame[] = [];
  #waitingBytes = 0;
  #heldIds: number;
  #removable = 0;
  #coveredTo: number;
  #witness: CheckpointHead['witness'];
  #lastSeq: number;
  #written = 0;
  #failures = 0;
  #unanswered: Unanswered | undefined;
  #writing: Promise<void> | undefined;
  #isLeft = false;
  readonly #firstStored: Promise<void>;
  #onFirstStored: () => void = () => undefined;

  constructor(context: ResolverContext, start: CheckpointStart) {
    this.#context = context;
    this.#subject = deduplicationSubject(context.partition);
    this.#log = start.log;
    this.#coveredTo = start.coveredTo;
    this.#witness = start.witness;
    this.#held = [...start.held];
    this.#heldIds = start.held.reduce((sum, { ids }) => sum + ids, 0);
    this.#lastSeq = start.lastSeq;
    this.#firstStored = new Promise((resolve) => {
      this.#onFirstStored = resolve;
    });
  }

  /** Ids that no checkpoint has yet. */
  get idsWaiting(): number {
    return this.#waitingBytes / bytesPerHash;
  }

  /** Takes note of a frame that was written to EVENTS; what fills a checkpoint is written at once. */
  note(frame: NotedFrame): void {
    if (this.#isLeft) return;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.ids.length;
    const { checkpointBytesMax, deduplication } = this.#context.settings;
    const bytesMax = Math.max(checkpointBytesMax * 2, deduplication.idsMax * bytesPerHash * (1 + spare));
    if (this.#waiting.length > framesWaitingMax || this.#waitingBytes > bytesMax) this.#leaveOut();
    if (this.#waitingBytes >= checkpointBytesMax && this.#failures === 0) void this.write();
  }

  /** Writes all that waits. Never rejects: what the log does not take waits for the next time. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /**
   * Begins to write the waiting ids, and without any a checkpoint without ids. From the first one on another resolver,
   * which does not know that the partition has moved, can add none. `seq` is the end of EVENTS, all of which was looked
   * through. Throws CheckpointsTakenOverError when it is us who do not know.
   */
  async take(seq: number, witness: CheckpointHead['witness']): Promise<void> {
    if (this.#waiting.length === 0) {
      this.#unanswered ??= this.#message([], Math.max(seq, this.#coveredTo), witness ?? this.#witness);
    }
    await Promise.race([this.write(), this.#firstStored]);
    if (this.#isLeft) {
      throw new CheckpointsTakenOverError(`taking over ${this.#subject}: another resolver writes to it`);
    }
  }

  /** Writes the waiting ids, or leaves them to the next start. */
  async close(isWriting: boolean): Promise<void> {
    if (isWriting) await this.write();
  }

  async #writeAll(): Promise<void> {
    const { counts, connection, logger, partition, signal } = this.#context;
    try {
      for (let message = this.#next(); message !== undefined; message = this.#next()) {
        if (!connection.connected || signal.aborted) return;
        this.#unanswered = message;
        const seq = await this.#store(message);
        this.#unanswered = undefined;
        if (seq === undefined) {
          this.#giveUp();
          return;
        }
        this.#stored(seq, message);
        await this.#removeOld();
      }
    } catch (error) {
      this.#failures += 1;
      counts.checkpoint_failures += 1;
      if (this.#failures === 3) logger.warn({ partition, err: error }, 'writing a checkpoint failed; retrying');
    }
  }

  /** The checkpoint whose answer was lost is published again as it was: the log may have it. */
  #next(): Unanswered | undefined {
    if (this.#unanswered !== undefined || this.#waiting.length === 0) return this.#unanswered;
    const frames: NotedFrame[] = [];
    let bytes = 0;
    for (const frame of this.#waiting) {
      if (frames.length > 0 && bytes + frame.ids.length > this.#context.settings.checkpointBytesMax) break;
      frames.push(frame);
      bytes += frame.ids.length;
    }
    const last = frames.at(-1);
    return last && this.#message(frames, last.seq, { seq: last.seq, msgId: last.msgId });
  }

  #message(frames: readonly NotedFrame[], to: number, witness: CheckpointHead['witness']): Unanswered {
    const { deduplication } = this.#context.settings;
    const first = this.#held[0]?.seq;
    const ids = frames.reduce((sum, frame) => sum + frame.ids.length / bytesPerHash, 0);
    const head: CheckpointHead = {
      log: this.#log,
      from: this.#coveredTo + 1,
      to,
      ...(witness === undefined ? {} : { witness }),
      ...(first === undefined ? {} : { first }),
      ids: this.#heldIds + ids,
      windowMs: deduplication.windowMs,
      idsMax: deduplication.idsMax,
    };
    this.#written += 1;
    return {
      msgId: `${this.#name}.${this.#written}`,
      head,
      payload: encodeRuns(runsOf(frames, deduplicationStepMs(deduplication))),
      ids,
      timeMs: frames.at(-1)?.timeMs ?? this.#context.deduplication.timeMs,
    };
  }

  /** One try. Returns the sequence it has in the log, or undefined when another resolver wrote there since. */
  async #store({ msgId, head, payload }: Unanswered): Promise<number | undefined> {
    const { connection, settings } = this.#context;
    try {
      const { seq } = await publish(connection, this.#subject, payload, {
        msgId,
        headers: {
          [checkpointHeader]: encodeCheckpointHead(head),
          [expectedLastHeader]: String(this.#lastSeq),
        },
        timeoutMs: settings.publishTimeoutMs,
      });
      return seq;
    } catch (error) {
      if (!(error instanceof PublishError) || error.reason !== 'not_last') throw error;
      const last = await lastStored(connection, streams.deduplication, this.#subject);
      if (last?.msgId === msgId) return last.seq;
      const isOurs = last === undefined || last.seq === this.#lastSeq || last.msgId.startsWith(this.#name);
      if (!isOurs) return undefined;
      // Everything was purged, or one was stored that we had given up: the next try follows what is there.
      this.#lastSeq = last?.seq ?? 0;
      throw error;
    }
  }

  #stored(seq: number, { head, ids, timeMs }: Unanswered): void {
    this.#failures = 0;
    this.#onFirstStored();
    this.#context.counts.checkpoints += 1;
    this.#lastSeq = seq;
    this.#coveredTo = head.to;
    this.#witness = head.witness;
    const written = this.#waiting.findIndex((frame) => frame.seq > head.to);
    for (const frame of this.#waiting.splice(0, written === -1 ? this.#waiting.length : written)) {
      this.#waitingBytes -= frame.ids.length;
    }
    this.#held.push({ seq, ids, timeMs });
    this.#heldIds += ids;
    this.#forget();
  }

  #forget(): void {
    const { deduplication, settings } = this.#context;
    const { windowMs, idsMax } = settings.deduplication;
    const oldestMs = deduplication.timeMs - windowMs * (1 + spare);
    const idsKept = idsMax * (1 + spare);
    for (;;) {
      const [oldest, next] = this.#held;
      // The newest stays: it is what the next one follows.
      if (oldest === undefined || next === undefined) return;
      if (oldest.timeMs >= oldestMs && this.#heldIds - oldest.ids < idsKept) return;
      this.#held.shift();
      this.#heldIds -= oldest.ids;
      this.#removable += 1;
    }
  }

  async #removeOld(): Promise<void> {
    const [oldest] = this.#held;
    if (this.#removable < removedAtOnce || oldest === undefined) return;
    await purgeSubject(this.#context.connection, streams.deduplication, this.#subject, oldest.seq);
    this.#removable = 0;
  }

  /** The older half of the waiting ids is read from EVENTS by the next start. */
  #leaveOut(): void {
    for (const { seq, ids } of this.#waiting.splice(0, Math.ceil(this.#waiting.length / 2))) {
      this.#waitingBytes -= ids.length;
      this.#coveredTo = seq;
    }
    this.#unanswered = undefined;
  }

  #giveUp(): void {
    const { logger, partition } = this.#context;
    this.#leave();
    logger.warn(
      { partition },
      'another resolver writes the checkpoints of this partition; this one stops writing them',
    );
  }

  #leave(): void {
    this.#isLeft = true;
    this.#unanswered = undefined;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }
}

/** Ids in the order of the log; those recorded within a step share their time. */
function runsOf(frames: readonly NotedFrame[], stepMs: number): readonly IdRun[] {
  const runs: { readonly timeMs: number; readonly parts: Uint8Array[] }[] = [];
  for (const { timeMs, ids } of frames) {
    const last = runs.at(-1);
    if (last !== undefined && timeMs - last.timeMs < stepMs) last.parts.push(ids);
    else runs.push({ timeMs, parts: [ids] });
  }
  return runs.map(({ timeMs, parts }) => ({ timeMs, ids: Buffer.concat(parts) }));
}
