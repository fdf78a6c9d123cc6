import { setTimeout as wait } from 'node:timers/promises';
import { countResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { Actor } from '../worker/define-worker.ts';
import { openFrameReader, runConsumerWorker } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { createRecorderCounts, recorderConsumer } from './recorder-context.ts';
import type { RecorderContext, RecorderGauge, RecorderStat } from './recorder-context.ts';
import { sampleFrame } from './sample-frame.ts';
import type { SampledLine } from './sample-frame.ts';
import { createSamplingBuckets } from './sampling-bucket.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';
import { rangeOf } from '../worker/suspicion.ts';
import { Turns } from '../worker/turns.ts';
import { startTrimmer } from './trimmer.ts';
import type { Trimmer } from './trimmer.ts';
import { writeRecentEvents } from './write-recent-events.ts';

export type RecorderOptions = Omit<RecorderContext, 'counts' | 'signal'>;

/**
 * Starts the recorder of recent events: reads the resolved events of all accounts with a consumer of its own and writes
 * them, or a sample where an account sends more than the view takes, to PostgreSQL. While the database is away the log
 * holds what comes. It never holds up anything else: where it falls too far behind it leaves events out, counted.
 */
export async function startRecentEventsRecorder(options: RecorderOptions): Promise<Actor<RecorderStat>> {
  const { connection, settings, logger, beginTurn, suspicion } = options;
  const consumer = recorderConsumer(settings);
  const reader = await openFrameReader({
    connection,
    consumer,
    bufferedMax: settings.framesPerTake,
    pullsAhead: false,
    logger,
    fields: { consumer: consumer.name },
    beginTurn,
    suspicion,
  });
  const context: RecorderContext = { ...options, counts: createRecorderCounts(), signal: reader.signal };
  const trimmer = startTrimmer(context);
  const recorder = new Recorder(context, reader, trimmer);
  return runConsumerWorker(reader, {
    work: () => recorder.work(),
    close: () => trimmer.stop(),
    stats: () => ({ ...context.counts, ...recorder.gauges() }),
  });
}

class Recorder {
  readonly #context: RecorderContext;
  readonly #reader: FrameReader;
  readonly #trimmer: Trimmer;
  readonly #buckets: SamplingBuckets;
  #framesWaiting = 0;
  #lagMs = 0;

  constructor(context: RecorderContext, reader: FrameReader, trimmer: Trimmer) {
    this.#context = context;
    this.#reader = reader;
    this.#trimmer = trimmer;
    this.#buckets = createSamplingBuckets(context.settings);
  }

  gauges(): Record<RecorderGauge, number> {
    return { frames_waiting: this.#framesWaiting, lag_seconds: this.#lagMs / 1_000 };
  }

  async work(): Promise<void> {
    const { settings } = this.#context;
    for (;;) {
      const messages = await this.#reader.take(settings.framesPerTake);
      const [oldest] = messages;
      if (oldest === undefined) return;
      const turns = new Turns(() => this.#context.beginTurn({ log: rangeOf(messages) }));
      const lines: SampledLine[] = [];
      for (const message of messages) {
        for (const line of this.#sample(message)) lines.push(line);
        const over = turns.spend(message.data.length);
        if (over !== undefined) await over;
      }
      await writeRecentEvents(this.#context, { lines, oldestAtMs: oldest.storedAtMs, turns }, (events) => {
        for (const { accountId } of events) this.#trimmer.noteAdded(accountId, 1);
      });
      this.#reader.finish(messages);
      // While little comes it waits, so that small frames are written together.
      if (this.#framesWaiting < settings.framesPerTake) await wait(settings.lingerMs);
    }
  }

  #sample(message: LogMessage): readonly SampledLine[] {
    const { settings, counts } = this.#context;
    const { subject, data, storedAtMs } = message;
    this.#framesWaiting = message.pending;
    this.#lagMs = Math.max(0, Date.now() - storedAtMs);
    if (this.#lagMs > settings.behindMaxMs && message.pending > settings.behindFramesMax) {
      counts.skipped_behind += countResolved(data);
      return [];
    }
    const ids = message.header(idsHeader);
    const { lines, skipped } = sampleFrame({ subject, data, storedAtMs, ids }, this.#buckets);
    counts.skipped_sampled += skipped;
    return lines;
  }
}
