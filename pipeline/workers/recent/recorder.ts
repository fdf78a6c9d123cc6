import { setTimeout as wait } from 'node:timers/promises';
import { countLines } from '../../../shared/contracts/events/frame.ts';
import { idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import type { Delivery } from '../../../shared/nats/messages/delivery.ts';
import type { Actor } from '../worker/actor.ts';
import { FramesInWork } from '../worker/frames-in-work.ts';
import { recorderConsumer } from './recorder-context.ts';
import type { RecorderContext } from './recorder-context.ts';
import { createRecorderCounts } from './recorder-stats.ts';
import type { RecorderGauge } from './recorder-stats.ts';
import { sampleFrame } from './sample-frame.ts';
import type { SampledLine } from './sample-frame.ts';
import { createSamplingBuckets } from './sampling-bucket.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';
import { startTrimmer } from './trimmer.ts';
import type { Trimmer } from './trimmer.ts';
import { writeRecentEvents } from './write-recent-events.ts';

export type RecorderOptions = Omit<RecorderContext, 'counts' | 'signal'>;

/** Time to hand frames back after the stop deadline has passed. */
const handBackMs = 250;

/**
 * Starts the recorder of recent events: reads the resolved events of all accounts with a consumer of its own and writes
 * them, or a sample where an account sends more than the view takes, to PostgreSQL. While the database is away the log
 * holds what comes. It never holds up anything else: where it falls too far behind it leaves events out, counted.
 */
export async function startRecentEventsRecorder(options: RecorderOptions): Promise<Actor> {
  const abort = new AbortController();
  const context: RecorderContext = { ...options, counts: createRecorderCounts(), signal: abort.signal };
  const { connection, settings, logger } = context;
  const consumer = recorderConsumer(settings);
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    bufferedMax: settings.framesPerTake,
    onTrouble: logConsumerTrouble(logger, { consumer: consumer.name }),
  });
  const trimmer = startTrimmer(context);
  const recorder = new Recorder(context, pullConsumer, trimmer);
  return {
    done: recorder.done,
    stop: async (deadlineMs) => {
      const late = setTimeout(() => abort.abort(new Error('shutdown deadline passed')), deadlineMs);
      // A statement under way cannot be called back: it ends by its own deadline, and repeating it does no harm.
      await withDeadline(Promise.allSettled([pullConsumer.close(), recorder.done]), deadlineMs + handBackMs);
      clearTimeout(late);
    },
    stats: () => ({ ...context.counts, ...recorder.gauges() }),
  };
}

class Recorder {
  readonly done: Promise<void>;
  readonly #context: RecorderContext;
  readonly #pullConsumer: PullConsumer;
  readonly #trimmer: Trimmer;
  readonly #buckets: SamplingBuckets;
  readonly #inWork: FramesInWork;
  #framesWaiting = 0;
  #lagMs = 0;

  constructor(context: RecorderContext, pullConsumer: PullConsumer, trimmer: Trimmer) {
    this.#context = context;
    this.#pullConsumer = pullConsumer;
    this.#trimmer = trimmer;
    this.#buckets = createSamplingBuckets(context.settings);
    this.#inWork = new FramesInWork(context.settings.ackWaitMs);
    const close = (): Promise<unknown> => Promise.all([this.#pullConsumer.close(), this.#trimmer.stop()]);
    this.done = this.#inWork.during(() => this.#work(), context.signal, close);
  }

  gauges(): Record<RecorderGauge, number> {
    return { frames_waiting: this.#framesWaiting, lag_seconds: this.#lagMs / 1_000 };
  }

  async #work(): Promise<void> {
    const { settings } = this.#context;
    for (;;) {
      const deliveries = await this.#pullConsumer.take(settings.framesPerTake);
      const [oldest] = deliveries;
      if (oldest === undefined) return;
      this.#inWork.taken(deliveries);
      const lines = deliveries.flatMap((delivery) => this.#sample(delivery));
      await writeRecentEvents(this.#context, { lines, oldestAtMs: oldest.storedAtMs }, (events) => {
        for (const { accountId } of events) this.#trimmer.noteAdded(accountId, 1);
      });
      for (const delivery of deliveries) {
        this.#inWork.finished(delivery);
      }
      if (this.#pullConsumer.buffered < settings.framesPerTake / 2) await wait(settings.lingerMs);
    }
  }

  #sample(delivery: Delivery): readonly SampledLine[] {
    const { settings, counts } = this.#context;
    const { subject, data, storedAtMs } = delivery;
    this.#framesWaiting = delivery.pending;
    this.#lagMs = Math.max(0, Date.now() - storedAtMs);
    if (this.#lagMs > settings.behindMaxMs && delivery.pending > settings.behindFramesMax) {
      counts.skipped_behind += countLines(data);
      return [];
    }
    const ids = delivery.header(idsHeader);
    const { lines, skipped } = sampleFrame({ subject, data, storedAtMs, ids }, this.#buckets);
    counts.skipped_sampled += skipped;
    return lines;
  }
}
