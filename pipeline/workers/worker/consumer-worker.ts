import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { noticeLosses } from '../../../shared/nats/messages/lost-messages.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { every } from '../../../shared/runtime/every.ts';
import type { Actor } from './define-worker.ts';
import { isQuarantined, rangeOf } from './suspicion.ts';
import type { FramesAtWork, LogSuspicion, Suspicion } from './suspicion.ts';

export type FrameReaderOptions = {
  readonly connection: LogConnection;
  readonly consumer: DurableConsumer;
  /** Maximum number of frames pulled ahead. */
  readonly bufferedMax: number;
  /** Maximum bytes of frames pulled ahead, exceeded by at most two frames of the largest size. */
  readonly bufferedBytesMax?: number;
  /** Default: true. If false, frames are pulled only while the actor waits for them, see `PullConsumerOptions`. */
  readonly pullsAhead?: boolean;
  readonly logger: Logger;
  /** Log fields that identify the consumer's actor. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Records the start of a turn of the actor, with the frames that it works on. */
  beginTurn(frames?: FramesAtWork): void;
  readonly suspicion: Suspicion;
  /** Stores a quarantined frame elsewhere. If undefined, such a frame is only skipped: it stays in its log. */
  quarantine?(frame: LogMessage): Promise<void>;
  /** Called whenever a frame is missing that the log had acknowledged; if undefined, no frames are checked. */
  onLost?(): void;
};

/** Opens the consumer of an actor. Its previous reader then receives no more frames. */
export async function openFrameReader(options: FrameReaderOptions): Promise<FrameReader> {
  const { connection, consumer, bufferedMax, bufferedBytesMax, pullsAhead = true, logger, fields, onLost } = options;
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    bufferedMax,
    bufferedBytesMax,
    pullsAhead,
    onTrouble: logConsumerTrouble(logger, fields),
    ...(onLost === undefined
      ? {}
      : { losses: noticeLosses({ connection, stream: consumer.stream, logger, fields }, onLost) }),
  });
  return new FrameReader(pullConsumer, options);
}

/**
 * The frames of an actor's consumer: those pulled ahead, and those in flight, which were taken and are not finished.
 */
export class FrameReader {
  /** Messages up to this sequence were delivered to an earlier actor, which may have worked on them. */
  readonly handedOutSeq: number;
  readonly #pullConsumer: PullConsumer;
  readonly #options: FrameReaderOptions;
  readonly #inFlight = new Set<LogMessage>();
  readonly #abort = new AbortController();
  readonly #suspicion: LogSuspicion;
  #isWatching: boolean;

  constructor(pullConsumer: PullConsumer, options: FrameReaderOptions) {
    this.#pullConsumer = pullConsumer;
    this.#options = options;
    this.handedOutSeq = pullConsumer.handedOutSeq;
    this.#suspicion = options.suspicion.log;
    this.#isWatching = this.#suspicion.watched !== undefined;
  }

  /** Aborted when the actor must end at once. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Number of frames that are pulled but not taken yet. */
  get buffered(): number {
    return this.#pullConsumer.buffered;
  }

  /** Waits for at least one frame and returns up to `max` frames; [] when closed. Begins a turn of the actor. */
  async take(max: number): Promise<readonly LogMessage[]> {
    const { beginTurn, quarantine } = this.#options;
    for (;;) {
      const taken = await this.#pullConsumer.take(this.#isWatching ? 1 : max);
      for (const frame of taken) this.#inFlight.add(frame);
      this.#isWatching &&= !taken.some(({ seq }) => seq > (this.#suspicion.watched?.to ?? 0));
      const frames = taken.filter(({ seq }) => !isQuarantined(this.#suspicion, seq));
      for (const frame of taken) {
        if (frames.includes(frame)) continue;
        await quarantine?.(frame);
        this.finish([frame]);
      }
      if (frames.length === 0 && taken.length > 0) continue;
      // The turn includes earlier frames that are still in flight.
      beginTurn({ log: rangeOf([...this.#inFlight]) });
      return frames;
    }
  }

  /** Whether the next frames may be suspected, since an earlier actor died with them: they are taken one at a time. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Acknowledges frames; call once all their results are stored. */
  finish(frames: readonly LogMessage[]): void {
    for (const frame of frames) {
      frame.ack();
      this.#inFlight.delete(frame);
    }
  }

  /** Throws if the consumer has another owner, which is possible after this process was paused. */
  confirm(): Promise<void> {
    return this.#pullConsumer.confirm();
  }

  /** Stops taking frames. The next actor receives the unfinished frames first. */
  close(): Promise<void> {
    return this.#pullConsumer.close();
  }

  /** While `work` runs, however long it takes, keeps the log from redelivering the frames in flight. */
  async whileKeeping(work: () => Promise<void>): Promise<void> {
    let before: ReadonlySet<LogMessage> = new Set();
    const pulse = every(this.#options.consumer.ackWaitMs / 3, () => {
      // Newer frames still have more than half of their ack wait, and most will be finished before it ends.
      for (const frame of this.#inFlight) if (before.has(frame)) frame.working();
      before = new Set(this.#inFlight);
    });
    try {
      await work();
    } finally {
      void pulse.stop();
    }
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }
}

export type ConsumerWork<Stat extends string> = {
  /** Works until there is nothing more to take. */
  work(): Promise<void>;
  /** Closes what the work has opened, except the reader. */
  close(): Promise<void>;
  stats(): Readonly<Record<Stat, number>>;
};

/** How long a stop may continue after its deadline, in ms, to return frames to the log. */
const handBackMs = 250;

/**
 * Runs an actor that works on the frames of one consumer. When stopped, it takes no more frames and finishes those that
 * it took; at the deadline it is aborted, and a failure after that counts as the requested end.
 */
export function runConsumerWorker<Stat extends string>(
  reader: FrameReader,
  { work, close, stats }: ConsumerWork<Stat>,
): Actor<Stat> {
  const run = async (): Promise<void> => {
    try {
      await reader.whileKeeping(work);
    } catch (error) {
      if (!reader.signal.aborted) throw error;
    } finally {
      await reader.close();
      await close();
    }
  };
  const done = run();
  return {
    done,
    stats,
    async stop(deadlineMs) {
      const late = setTimeout(() => reader.abort(new Error('shutdown deadline passed')), deadlineMs);
      // A running statement cannot be cancelled: it ends by its own deadline, and running it again is harmless.
      await withDeadline(Promise.allSettled([reader.close(), done]), deadlineMs + handBackMs);
      clearTimeout(late);
    },
  };
}
