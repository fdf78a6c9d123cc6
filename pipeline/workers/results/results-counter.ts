import { setTimeout as wait } from 'node:timers/promises';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import type { Delivery } from '../../../shared/nats/messages/delivery.ts';
import type { Actor } from '../worker/actor.ts';
import { FramesInWork } from '../worker/frames-in-work.ts';
import { createFindResults } from './find-results.ts';
import type { FindResults } from './find-results.ts';
import { ResultsBatch } from './results-batch.ts';
import { accountConsumer } from './results-context.ts';
import type { ResultsContext } from './results-context.ts';
import type { ResultsPlan } from './results-plan.ts';
import { createResultsCounts } from './results-stats.ts';
import type { ResultsGauge } from './results-stats.ts';
import { storeResults } from './store-results.ts';

export type ResultsCounterOptions = Omit<ResultsContext, 'counts' | 'signal'>;

/** Time to hand frames back after the stop deadline has passed. */
const handBackMs = 250;

/**
 * Starts counting the results of an account's experiments: reads its resolved events with a consumer of its own and keeps
 * in PostgreSQL who was exposed and who converted. A frame is acknowledged once that is written; it may come again, since
 * what is written twice is written once. While the database is away the log holds what comes. It holds up nothing else.
 */
export async function startResultsCounter(options: ResultsCounterOptions): Promise<Actor> {
  const abort = new AbortController();
  const context: ResultsContext = { ...options, counts: createResultsCounts(), signal: abort.signal };
  const { accountId, connection, settings, logger } = context;
  // Should the consumer be lost it is made again at the place it had.
  let nextSeq: number | undefined;
  const consumer = accountConsumer(context, () =>
    nextSeq === undefined ? { timeMs: context.publishedAtMs } : { seq: nextSeq },
  );
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    bufferedMax: settings.framesPerTake,
    onTrouble: logConsumerTrouble(logger, { accountId }),
  });
  const counter = new ResultsCounter(context, pullConsumer, (seq) => {
    nextSeq = Math.max(nextSeq ?? 0, seq + 1);
  });
  return {
    done: counter.done,
    stop: async (deadlineMs) => {
      const late = setTimeout(() => abort.abort(new Error('shutdown deadline passed')), deadlineMs);
      // A statement under way cannot be called back: it ends by its own deadline, and repeating it does no harm.
      await withDeadline(Promise.allSettled([pullConsumer.close(), counter.done]), deadlineMs + handBackMs);
      clearTimeout(late);
    },
    stats: () => ({ ...context.counts, ...counter.gauges() }),
  };
}

class ResultsCounter {
  readonly done: Promise<void>;
  readonly #context: ResultsContext;
  readonly #pullConsumer: PullConsumer;
  readonly #onDone: (seq: number) => void;
  readonly #inWork: FramesInWork;
  #plan: ResultsPlan | undefined;
  #find: FindResults = () => undefined;
  #framesWaiting = 0;
  #lagMs = 0;

  constructor(context: ResultsContext, pullConsumer: PullConsumer, onDone: (seq: number) => void) {
    this.#context = context;
    this.#pullConsumer = pullConsumer;
    this.#onDone = onDone;
    this.#inWork = new FramesInWork(context.settings.ackWaitMs);
    const close = (): Promise<unknown> => this.#pullConsumer.close();
    this.done = this.#inWork.during(() => this.#work(), context.signal, close);
  }

  gauges(): Record<ResultsGauge, number> {
    return { frames_waiting: this.#framesWaiting, lag_seconds: this.#lagMs / 1_000 };
  }

  async #work(): Promise<void> {
    const { settings } = this.#context;
    for (;;) {
      const deliveries = await this.#pullConsumer.take(settings.framesPerTake);
      const newest = deliveries.at(-1);
      if (newest === undefined) return;
      this.#inWork.taken(deliveries);
      this.#framesWaiting = deliveries.length + newest.pending;
      this.#lagMs = Math.max(0, Date.now() - newest.storedAtMs);
      await this.#count(deliveries);
      this.#framesWaiting = newest.pending;
      if (this.#pullConsumer.buffered < settings.framesPerTake / 2) await wait(settings.lingerMs);
    }
  }

  async #count(deliveries: readonly Delivery[]): Promise<void> {
    const find = this.#finder();
    const batch = new ResultsBatch();
    for (const { data } of deliveries) find(data, batch);
    await storeResults(this.#context, batch);
    for (const delivery of deliveries) {
      this.#inWork.finished(delivery);
      this.#onDone(delivery.seq);
    }
  }

  /** What finds the events that count now: made anew when the account's version changed. */
  #finder(): FindResults {
    const plan = this.#context.plan();
    if (plan !== undefined && plan !== this.#plan) {
      this.#plan = plan;
      this.#find = createFindResults(plan);
    }
    return this.#find;
  }
}
