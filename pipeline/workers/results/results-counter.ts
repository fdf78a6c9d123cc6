import { setTimeout as wait } from 'node:timers/promises';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { Actor } from '../worker/define-worker.ts';
import { openFrameReader, runConsumerWorker } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { createFindResults } from './find-results.ts';
import type { FindResults } from './find-results.ts';
import { ResultsBatch } from './results-batch.ts';
import { accountConsumer, createResultsCounts } from './results-context.ts';
import type { ResultsContext, ResultsGauge, ResultsStat } from './results-context.ts';
import type { ResultsPlan } from './results-plan.ts';
import { storeResults } from './write-results.ts';

export type ResultsCounterOptions = Omit<ResultsContext, 'counts' | 'signal'>;

/**
 * Starts counting the results of an account's experiments: reads its resolved events with a separate consumer, and
 * records in PostgreSQL who was exposed and who converted. A frame is acknowledged once its results are written. It may
 * be delivered again, since repeated writes have no effect. While the database is unavailable, events wait in the log;
 * no other work is delayed.
 */
export async function startResultsCounter(options: ResultsCounterOptions): Promise<Actor<ResultsStat>> {
  const { accountId, connection, settings, logger, publishedAtMs, beginTurn, suspicion } = options;
  const consumer = accountConsumer(options, { timeMs: publishedAtMs });
  const reader = await openFrameReader({
    connection,
    consumer,
    bufferedMax: settings.framesPerTake,
    pullsAhead: false,
    logger,
    fields: { accountId },
    beginTurn,
    suspicion,
  });
  const context: ResultsContext = { ...options, counts: createResultsCounts(), signal: reader.signal };
  const counter = new ResultsCounter(context, reader);
  return runConsumerWorker(reader, {
    work: () => counter.work(),
    close: () => Promise.resolve(),
    stats: () => ({ ...context.counts, ...counter.gauges() }),
  });
}

class ResultsCounter {
  readonly #context: ResultsContext;
  readonly #reader: FrameReader;
  #plan: ResultsPlan | undefined;
  #find: FindResults = () => undefined;
  #framesWaiting = 0;
  #lagMs = 0;

  constructor(context: ResultsContext, reader: FrameReader) {
    this.#context = context;
    this.#reader = reader;
  }

  gauges(): Record<ResultsGauge, number> {
    return { frames_waiting: this.#framesWaiting, lag_seconds: this.#lagMs / 1_000 };
  }

  async work(): Promise<void> {
    const { settings } = this.#context;
    for (;;) {
      const messages = await this.#reader.take(settings.framesPerTake);
      const newest = messages.at(-1);
      if (newest === undefined) return;
      this.#framesWaiting = messages.length + newest.pending;
      this.#lagMs = Math.max(0, Date.now() - newest.storedAtMs);
      await this.#count(messages);
      this.#framesWaiting = newest.pending;
      if (newest.pending < settings.framesPerTake) await wait(settings.lingerMs);
    }
  }

  async #count(messages: readonly LogMessage[]): Promise<void> {
    const find = this.#finder();
    const batch = new ResultsBatch();
    for (const { data } of messages) find(data, batch);
    await storeResults(this.#context, batch);
    this.#reader.finish(messages);
  }

  /** Returns the finder of the events that count; it is created again when the account's version has changed. */
  #finder(): FindResults {
    const plan = this.#context.plan();
    if (plan !== undefined && plan !== this.#plan) {
      this.#plan = plan;
      this.#find = createFindResults(plan);
    }
    return this.#find;
  }
}
