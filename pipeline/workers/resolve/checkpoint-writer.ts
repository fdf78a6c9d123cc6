import { lastStored, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { PublishError, expectedLastHeader, publish } from '../../../shared/nats/publish/publisher.ts';
import { deduplicationSubject } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { checkpointHeader, encodeCheckpointHead, encodeRuns } from '../../../shared/contracts/events/checkpoint.ts';
import type { CheckpointHead, IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { Wakeup } from '../worker/wakeup.ts';
import { deduplicationStepMs } from './deduplication.ts';
import { HeldCheckpoints } from './held-checkpoints.ts';
import type { HeldCheckpoint } from './held-checkpoints.ts';
import { NotedFrames } from './noted-frames.ts';
import type { NotedFrame } from './noted-frames.ts';
import { bytesPerHash } from '../../../shared/contracts/events/event-hash.ts';
import type { ResolverContext } from './resolver-context.ts';

/** A partition's checkpoints at the start of the writer. */
export type CheckpointStart = {
  /** Creation time of EVENTS. */
  readonly log: string;
  /** The checkpoints contain the partition's ids up to this sequence of EVENTS. */
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

/** The newest checkpoint of the partition: see CheckpointStart. */
type Follows = { -readonly [Name in Exclude<keyof CheckpointStart, 'held'>]: CheckpointStart[Name] };

type Unanswered = {
  readonly msgId: string;
  readonly head: CheckpointHead;
  readonly payload: Uint8Array;
  readonly ids: number;
  readonly timeMs: number;
};

/**
 * Maximum number of frames that wait for a checkpoint. Beyond it, the next start reads the older frames from EVENTS.
 */
const framesWaitingMax = 500_000;
/** Unneeded checkpoints are removed once there are this many of them. */
const removedAtOnce = 64;
/** Ids are kept longer than the table needs them, by this fraction, so that a table filled from them is no smaller. */
const spare = 1 / 16;

/**
 * Stores the ids of deduplication, so that a start need not read a day of EVENTS: every few seconds it writes the ids
 * of the frames that were written since. Each checkpoint names its predecessor, so if a partition has two resolvers,
 * only one of them can continue. Checkpoints never delay an event, and a missing one only makes a start longer.
 */
export class CheckpointWriter {
  readonly #context: ResolverContext;
  readonly #subject: string;
  readonly #name = crypto.randomUUID();
  readonly #noted = new NotedFrames();
  readonly #held: HeldCheckpoints;
  /** The predecessor of the next checkpoint. */
  readonly #follows: Follows;
  #written = 0;
  #failures = 0;
  #unanswered: Unanswered | undefined;
  #writing: Promise<void> | undefined;
  #isLeft = false;
  readonly #firstStored = new Wakeup();

  constructor(context: ResolverContext, { held, ...follows }: CheckpointStart) {
    this.#context = context;
    this.#subject = deduplicationSubject(context.partition);
    this.#held = new HeldCheckpoints(held);
    this.#follows = follows;
  }

  /** Number of ids that no checkpoint has yet. */
  get idsWaiting(): number {
    return this.#noted.bytes / bytesPerHash;
  }

  /** Records a frame that was written to EVENTS. Once the ids suffice for a checkpoint, they are written at once. */
  note(frame: NotedFrame): void {
    if (this.#isLeft) return;
    this.#noted.add(frame);
    const { checkpointBytesMax, deduplication } = this.#context.settings;
    const bytesMax = Math.max(checkpointBytesMax * 2, deduplication.idsMax * bytesPerHash * (1 + spare));
    if (this.#noted.count > framesWaitingMax || this.#noted.bytes > bytesMax) this.#leaveOut();
    if (this.#noted.bytes >= checkpointBytesMax && this.#failures === 0) void this.write();
  }

  /** Writes all waiting ids. Never rejects: ids that the log refuses are written the next time. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /**
   * Takes over the partition's checkpoints by writing the waiting ids, or an empty checkpoint. Once it is stored, a
   * resolver that has lost the partition without noticing can add no checkpoint. `seq` is the last sequence of EVENTS
   * that was read. Throws CheckpointsTakenOverError if this resolver is the one that lost the partition.
   */
  async take(seq: number, witness: CheckpointHead['witness']): Promise<void> {
    if (this.#noted.count === 0) {
      const { coveredTo, witness: known } = this.#follows;
      this.#unanswered ??= this.#message([], Math.max(seq, coveredTo), witness ?? known);
    }
    await Promise.race([this.write(), this.#firstStored.wait()]);
    if (this.#isLeft) {
      throw new CheckpointsTakenOverError(`taking over ${this.#subject}: another resolver writes to it`);
    }
  }

  /** Writes the waiting ids; if `isWriting` is false, the next start reads them from EVENTS. */
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
        await this.#removeBefore(message.head.first);
      }
    } catch (error) {
      this.#failures += 1;
      counts.checkpoint_failures += 1;
      if (this.#failures === 3) logger.warn({ partition, err: error }, 'writing a checkpoint failed; retrying');
    }
  }

  /** A checkpoint whose answer was lost is published again unchanged: the log may have it. */
  #next(): Unanswered | undefined {
    if (this.#unanswered !== undefined) return this.#unanswered;
    const frames = this.#noted.first(this.#context.settings.checkpointBytesMax);
    const last = frames.at(-1);
    return last && this.#message(frames, last.seq, { seq: last.seq, msgId: last.msgId });
  }

  #message(frames: readonly NotedFrame[], to: number, witness: CheckpointHead['witness']): Unanswered {
    const { deduplication } = this.#context.settings;
    const { firstSeq: first } = this.#held;
    const ids = frames.reduce((sum, frame) => sum + frame.ids.length / bytesPerHash, 0);
    const head: CheckpointHead = {
      log: this.#follows.log,
      from: this.#follows.coveredTo + 1,
      to,
      ...(witness === undefined ? {} : { witness }),
      ...(first === undefined ? {} : { first }),
      ids: this.#held.ids + ids,
      windowMs: deduplication.windowMs,
      idsMax: deduplication.idsMax,
      ungroupedUntilMs: this.#context.deduplication.ungroupedUntilMs,
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

  /** Tries once. Returns the checkpoint's sequence, or undefined if another resolver has written a checkpoint since. */
  async #store({ msgId, head, payload }: Unanswered): Promise<number | undefined> {
    const { connection, settings } = this.#context;
    try {
      const { seq } = await publish(connection, this.#subject, payload, {
        msgId,
        headers: {
          [checkpointHeader]: encodeCheckpointHead(head),
          [expectedLastHeader]: String(this.#follows.lastSeq),
        },
        timeoutMs: settings.publishTimeoutMs,
      });
      return seq;
    } catch (error) {
      if (!(error instanceof PublishError) || error.reason !== 'not_last') throw error;
      const last = await lastStored(connection, streams.deduplication, this.#subject);
      if (last?.msgId === msgId) return last.seq;
      const isOurs = last === undefined || last.seq === this.#follows.lastSeq || last.msgId.startsWith(this.#name);
      if (!isOurs) return undefined;
      // All checkpoints were purged, or one was stored after its timeout: the next try follows the last one in the log.
      this.#follows.lastSeq = last?.seq ?? 0;
      throw error;
    }
  }

  #stored(seq: number, { head, ids, timeMs }: Unanswered): void {
    this.#failures = 0;
    this.#firstStored.ring();
    this.#context.counts.checkpoints += 1;
    this.#follows.lastSeq = seq;
    // Later frames may have been left out while it was stored.
    this.#follows.coveredTo = Math.max(head.to, this.#follows.coveredTo);
    this.#follows.witness = head.witness;
    this.#noted.removeTo(head.to);
    this.#held.add({ seq, ids, timeMs });
    this.#forget();
  }

  #forget(): void {
    const { deduplication, settings } = this.#context;
    const { windowMs, idsMax } = settings.deduplication;
    const oldestMs = deduplication.timeMs - windowMs * (1 + spare);
    this.#held.forget(oldestMs, idsMax * (1 + spare));
  }

  /**
   * A start reads from the checkpoint that the newest stored one names as the first: only earlier ones may be removed.
   */
  async #removeBefore(firstSeq: number | undefined): Promise<void> {
    if (this.#held.removable < removedAtOnce || firstSeq === undefined) return;
    await purgeSubject(this.#context.connection, streams.deduplication, this.#subject, firstSeq);
    this.#held.removed();
  }

  /** Drops the older half of the waiting ids: the next start reads them from EVENTS. */
  #leaveOut(): void {
    const newest = this.#noted.removeOlderHalf();
    if (newest !== undefined) this.#follows.coveredTo = newest.seq;
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
    this.#noted.clear();
  }
}

/** Joins ids in the order of the log; ids of the same time step share one time. */
function runsOf(frames: readonly NotedFrame[], stepMs: number): readonly IdRun[] {
  const runs: { readonly timeMs: number; readonly parts: Uint8Array[] }[] = [];
  for (const { timeMs, ids } of frames) {
    const last = runs.at(-1);
    if (last !== undefined && timeMs - last.timeMs < stepMs) last.parts.push(ids);
    else runs.push({ timeMs, parts: [ids] });
  }
  return runs.map(({ timeMs, parts }) => ({ timeMs, ids: Buffer.concat(parts) }));
}
