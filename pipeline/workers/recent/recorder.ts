import { sampleHash } from '../../../shared/contracts/events/event-hash.ts';
import { eventsOfPartition, eventsSubject } from '../../../shared/contracts/subjects.ts';
import { readMessages } from '../../../shared/nats/messages/read-messages.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { failureFields } from '../worker/isolate-refused.ts';
import { Turns } from '../worker/turns.ts';
import { Wakeup } from '../worker/wakeup.ts';
import { ChosenFrames } from './chosen-frames.ts';
import { readPlace, writePlace } from './recent-places.ts';
import type { RecorderContext, RecorderGauge } from './recorder-context.ts';
import { recentEventLeft } from './recent-event.ts';
import type { RecentEvent } from './recent-event.ts';
import { sampleFrame } from './sample-frame.ts';
import type { FrameToSample, SampledLine } from './sample-frame.ts';
import { createSamplingBuckets } from './sampling-bucket.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';
import { startTrimmer } from './trimmer.ts';
import type { Trimmer } from './trimmer.ts';
import { writeRecentEvents } from './write-recent-events.ts';

/** A frame of one account that its resolver has stored in the log. */
export type FrameInLog = {
  readonly accountId: string;
  /** Its lines, uncompressed. */
  readonly lines: Uint8Array;
  /** Its sequence in EVENTS. */
  readonly seq: number;
};

/** Interval at which the position is written, in ms; after a crash, a start reads all later events again. */
const placeEveryMs = 1_000;
const framesPerPull = 16;
const silenceMaxMs = 30_000;

/**
 * Opens the recorder of one resolver's events: it receives each stored frame and writes its events to PostgreSQL a
 * moment later, many at a time, but only a sample if an account sends too much. After a crash the next recorder reads
 * missing events from the log. It never delays other work: if the database is too slow, it leaves events out and counts
 * them.
 */
export async function openRecorder(context: RecorderContext): Promise<Recorder> {
  // Events up to `lastSeq` were written by an earlier resolver.
  const { lastSeq } = await readStreamState(context.connection, streams.events);
  return new Recorder(context, lastSeq);
}

export class Recorder {
  readonly #context: RecorderContext;
  readonly #trimmer: Trimmer;
  readonly #buckets: SamplingBuckets;
  readonly #frames: ChosenFrames;
  /** Rings when there is something to write. */
  readonly #noted: Wakeup;
  readonly #closing = new Wakeup();
  readonly #running: Promise<void>;
  #notedSeq: number | undefined;
  #placeSeq: number | undefined;
  #placedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(context: RecorderContext, lastSeq: number) {
    this.#context = context;
    this.#noted = context.planOutcomes.noted;
    this.#trimmer = startTrimmer(context);
    const { perSecondMax, burstMax, waitingBytesMax } = context.settings;
    this.#frames = new ChosenFrames(waitingBytesMax);
    this.#buckets = createSamplingBuckets({ perSecondMax: perSecondMax / context.partitions, burstMax });
    this.#running = this.#run(lastSeq).catch((error: unknown) => {
      if (!context.signal.aborted) context.logger.error({ err: error }, 'the recent-events recorder stopped');
    });
  }

  gauges(): Record<RecorderGauge, number> {
    return { recent_bytes_waiting: this.#frames.bytes, recent_lag_seconds: this.#frames.ageMs / 1_000 };
  }

  /** Receives a frame. Frames of a partition must come in the order of the log. */
  note({ accountId, lines, seq }: FrameInLog): void {
    const subject = eventsSubject(accountId, this.#context.partition);
    this.#add(this.#choose({ subject, data: lines, storedAtMs: Date.now() }), lines.length);
    this.#notedSeq = seq;
  }

  /** Writes the waiting events, and ends the recorder. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#noted.ring();
    this.#closing.ring();
    await Promise.all([this.#running, this.#trimmer.stop()]);
  }

  #choose(frame: FrameToSample): readonly SampledLine[] {
    const { lines, skipped } = sampleFrame(frame, this.#buckets);
    this.#context.counts.recent_skipped_sampled += skipped;
    return lines;
  }

  /** If a plan quarantines or drops a flood of events, the view shows only a sample. */
  #chooseLeft(): readonly RecentEvent[] {
    const { planOutcomes, counts } = this.#context;
    const nowMs = Date.now();
    const chosen: RecentEvent[] = [];
    for (const left of planOutcomes.takeLeft()) {
      const sampleOf = this.#buckets.of(`${left.accountId} left`, nowMs).take(() => sampleHash(left.id), nowMs);
      const event = sampleOf === 0 ? undefined : recentEventLeft(left, sampleOf);
      if (event !== undefined) chosen.push(event);
      else if (sampleOf === 0) counts.recent_skipped_sampled += 1;
      else counts.recent_unreadable += 1;
    }
    return chosen;
  }

  #add(lines: readonly SampledLine[], bytes: number): void {
    if (lines.length === 0) return;
    if (this.#frames.add(lines, bytes)) this.#noted.ring();
    else this.#context.counts.recent_skipped_behind += lines.length;
  }

  async #run(lastSeq: number): Promise<void> {
    await this.#catchUp(lastSeq);
    this.#notedSeq ??= lastSeq;
    await this.#noteWritten(lastSeq);
    for (;;) {
      while (this.#frames.linesWaiting === 0 && !this.#context.planOutcomes.hasLeft && !this.#isClosed) {
        await this.#noted.wait();
      }
      const { eventsPerInsert, lingerMs } = this.#context.settings;
      // Events of one moment share a statement.
      if (this.#frames.linesWaiting < eventsPerInsert && !this.#isClosed) await this.#closing.wait(lingerMs);
      const seq = this.#notedSeq;
      await this.#writeWaiting();
      await this.#noteWritten(seq);
      if (this.#isClosed && this.#frames.linesWaiting === 0) return;
    }
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#frames.take();
    const left = this.#chooseLeft();
    const turns = new Turns(() => this.#context.beginTurn());
    try {
      await writeRecentEvents(this.#context, { lines, left, turns }, (events) => {
        for (const { accountId } of events) this.#trimmer.noteAdded(accountId, 1);
      });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      // No error may keep later events out of the view.
      this.#context.logger.error({ err: error }, 'events were skipped in the recent-events view');
    } finally {
      this.#frames.settle();
    }
  }

  async #noteWritten(seq: number | undefined): Promise<void> {
    if (seq === undefined || seq === this.#placeSeq) return;
    const nowMs = performance.now();
    if (nowMs - this.#placedAtMs < placeEveryMs && !this.#isClosed) return;
    await this.#insist(() => writePlace(this.#context.pool, this.#context.partition, seq));
    this.#placeSeq = seq;
    this.#placedAtMs = nowMs;
  }

  /** Writes events that an earlier resolver stored in the log, but might not have written to the view yet. */
  async #catchUp(lastSeq: number): Promise<void> {
    const { partition, pool, settings, logger } = this.#context;
    const place = await this.#insist(() => readPlace(pool, partition));
    const newest = lastSeq - settings.caughtUpFramesMax + 1;
    // A position after the end of the log comes from a log that was lost.
    const isKnown = place !== undefined && place <= lastSeq;
    let next: number | undefined = isKnown ? Math.max(place + 1, newest) : newest;
    if (isKnown && place + 1 < next) {
      logger.warn(
        { partition, frames: next - place - 1 },
        'the recent-events view starts later: older events were skipped',
      );
    }
    while (next !== undefined && next <= lastSeq) {
      next = await this.#readFrom(next, lastSeq);
      await this.#writeWaiting();
    }
  }

  /**
   * Reads frames of the log, as many as have room, or until the log fails. Returns where to continue; undefined at the
   * end.
   */
  async #readFrom(firstSeq: number, lastSeq: number): Promise<number | undefined> {
    const { partition, settings, counts, signal, connection, logger } = this.#context;
    let readTo: number | undefined;
    const reading = readMessages(connection, {
      stream: streams.events,
      filterSubject: eventsOfPartition(partition),
      from: { seq: firstSeq, toSeq: lastSeq },
      content: 'all',
      messagesPerPull: framesPerPull,
      silenceMaxMs,
      signal,
      onMessage: ({ seq, subject, data, storedAtMs }) => {
        if (seq > lastSeq) return false;
        readTo = seq;
        counts.recent_caught_up_frames += 1;
        this.#add(this.#choose({ subject, data, storedAtMs }), data.length);
        return this.#frames.bytes < settings.waitingBytesMax / 2;
      },
    });
    try {
      await reading;
    } catch (error) {
      if (signal.aborted || this.#isClosed) throw error;
      logger.warn({ partition, err: error }, 'reading events for the recent-events view failed; retrying');
      return (readTo ?? firstSeq - 1) + 1;
    }
    return readTo === undefined ? undefined : readTo + 1;
  }

  /** Retries a query until the database answers. */
  #insist<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { counts, logger, signal } = this.#context;
    return retry(ask, {
      signal,
      isPassing: () => true,
      onRetry: (error, attempt) => {
        counts.recent_insert_retries += 1;
        if (isWorthTelling(attempt))
          logger.warn(failureFields(error), 'the recent-events view cannot be reached; retrying');
      },
    });
  }
}
