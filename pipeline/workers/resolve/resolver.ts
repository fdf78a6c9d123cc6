import { setTimeout as wait } from 'node:timers/promises';
import { LogConnectError } from '../../../shared/nats/connection/connection.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { Delivery } from '../../../shared/nats/messages/delivery.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import { noticeLosses } from '../../../shared/nats/messages/notice-losses.ts';
import { createPredecessors } from '../../../shared/nats/messages/predecessors.ts';
import { ingestSubject, resolverConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Actor } from '../worker/actor.ts';
import { EventsLostError } from './checkpoint-writer.ts';
import { keepDeadLetters } from './dead-letters.ts';
import { createDeduplication } from './deduplication.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import { publishFrames } from './publish-frames.ts';
import { rebuildDeduplication } from './rebuild-deduplication.ts';
import type { Rebuilt } from './rebuild-deduplication.ts';
import { resolveFrames } from './resolve-frames.ts';
import type { ResolvedFrames } from './resolve-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import { createResolverCounts } from './resolver-stats.ts';
import type { ResolverGauge } from './resolver-stats.ts';

export type ResolverOptions = Omit<ResolverContext, 'deduplication' | 'predecessors' | 'counts' | 'signal'>;

/** Frames pulled ahead of the one take being worked on and the one being published. */
const bufferedFramesMax = 32;

/**
 * Starts the resolver of one partition: takes accepted events from the ingest log, drops repeated and unwanted ones,
 * finds their visitors, and writes them to the logs of their accounts. A frame is acknowledged once everything it
 * became is in the log; after a crash the ids of what is there already keep it from being written twice.
 */
export async function startResolver(options: ResolverOptions): Promise<Actor> {
  const abort = new AbortController();
  const context: ResolverContext = {
    ...options,
    deduplication: createDeduplication(options.settings.deduplication),
    predecessors: createPredecessors(),
    counts: createResolverCounts(),
    signal: abort.signal,
  };
  const consumer: DurableConsumer = {
    stream: streams.ingest,
    name: resolverConsumer(options.partition),
    filterSubject: ingestSubject(options.partition),
    startFrom: 'first',
    ackWaitMs: options.settings.ackWaitMs,
    ackPendingMax: bufferedFramesMax + options.settings.framesPerTake * 2,
  };
  // First nobody else is given frames any more, then what was written is read.
  const pullConsumer = await openPullConsumer(options.connection, {
    consumer,
    bufferedMax: bufferedFramesMax,
    onTrouble: logConsumerTrouble(options.logger, { partition: options.partition }),
    losses: noticeLosses(
      {
        connection: options.connection,
        stream: streams.ingest,
        logger: options.logger,
        fields: { partition: options.partition },
      },
      () => {
        context.counts.lost_frames += 1;
      },
    ),
  });
  const rebuilt = await rebuildDeduplication(context, consumer).catch(async (error: unknown) => {
    await pullConsumer.close();
    throw error;
  });
  const resolver = new Resolver(context, pullConsumer, rebuilt);
  return {
    done: resolver.done,
    stop: async (deadlineMs) => {
      const late = setTimeout(() => abort.abort(new Error('shutdown deadline passed')), deadlineMs);
      await Promise.allSettled([resolver.endTaking(), resolver.done]);
      clearTimeout(late);
    },
    stats: () => ({ ...context.counts, ...resolver.gauges() }),
  };
}

class Resolver {
  readonly done: Promise<void>;
  readonly #context: ResolverContext;
  readonly #pullConsumer: PullConsumer;
  readonly #rebuilt: Rebuilt;
  readonly #inWork = new Set<Delivery>();
  #tookAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ResolverContext, pullConsumer: PullConsumer, rebuilt: Rebuilt) {
    this.#context = context;
    this.#pullConsumer = pullConsumer;
    this.#rebuilt = rebuilt;
    this.done = this.#run();
  }

  gauges(): Record<ResolverGauge, number> {
    const { deduplication } = this.#context;
    return {
      checkpoint_ids_waiting: this.#rebuilt.checkpoints.idsWaiting,
      rebuild_seconds: this.#rebuilt.tookMs / 1_000,
      rebuild_frames: this.#rebuilt.frames,
      deduplication_ids: deduplication.size,
      deduplication_bytes: deduplication.bytes,
      deduplication_window_seconds: deduplication.effectiveWindowMs / 1_000,
    };
  }

  /** Takes nothing more; what was taken is finished. */
  endTaking(): Promise<void> {
    return this.#pullConsumer.close();
  }

  async #run(): Promise<void> {
    const { settings, signal, connection } = this.#context;
    const { checkpoints } = this.#rebuilt;
    const writing = setInterval(() => void checkpoints.write(), settings.checkpointEveryMs);
    // However long the log or the database is away, the frames in work stay ours.
    const pulse = setInterval(() => {
      for (const delivery of this.#inWork) delivery.working();
    }, settings.ackWaitMs / 3);
    let offReconnect = (): void => undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      offReconnect = connection.onReconnect(() => void this.#surely(() => checkpoints.verify()).catch(reject));
    });
    try {
      await Promise.race([this.#work(), lost]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(pulse);
      clearInterval(writing);
      offReconnect();
      await this.endTaking();
      // Whoever resolves the partition next has nothing of ours to read but this.
      await checkpoints.close(!signal.aborted);
    }
  }

  /** Asks the log until it answers. */
  #surely<Result>(work: () => Promise<Result>): Promise<Result> {
    const { connection, signal, logger, partition } = this.#context;
    const ask = (): Promise<Result> => {
      if (!connection.connected) throw new LogConnectError('reading the log: not connected');
      return work();
    };
    return retry(ask, {
      signal,
      isPassing: (error) => !(error instanceof EventsLostError),
      onRetry: (error, attempt) => {
        if (attempt === 3) logger.warn({ partition, err: error }, 'the log cannot be read, retrying');
      },
    });
  }

  /** While one take is being published the next is resolved. Takes are published in order, so acknowledged in order. */
  async #work(): Promise<void> {
    const { checkpoints } = this.#rebuilt;
    let publishing: Promise<void> = Promise.resolve();
    for (;;) {
      const deliveries = await this.#take();
      if (deliveries.length === 0) return publishing;
      // After a reconnect: what was written before may be gone, and deduplication would take its events for known.
      await this.#surely(() => checkpoints.verify());
      const [resolved] = await Promise.all([resolveFrames(this.#context, deliveries), publishing]);
      publishing = this.#publish(resolved, deliveries);
      // A failure ends the wait for more; it is thrown from the next turn.
      publishing.catch(() => this.#pullConsumer.close());
    }
  }

  async #take(): Promise<readonly Delivery[]> {
    const { counts, settings } = this.#context;
    const pullConsumer = this.#pullConsumer;
    const earlyMs = this.#tookAtMs + settings.takeEveryMs - performance.now();
    // What comes meanwhile shares a visitor query, a frame and a write to disk with what is here.
    if (earlyMs >= 1 && pullConsumer.buffered < settings.framesPerTake) await wait(earlyMs);
    const deliveries = await pullConsumer.take(settings.framesPerTake);
    this.#tookAtMs = performance.now();
    counts.frames += deliveries.length;
    for (const delivery of deliveries) {
      this.#inWork.add(delivery);
      if (delivery.deliveries > 1 || delivery.seq <= pullConsumer.handedOutSeq) counts.redelivered_frames += 1;
    }
    return deliveries;
  }

  async #publish(resolved: ResolvedFrames, deliveries: readonly Delivery[]): Promise<void> {
    // After a standstill another resolver may have written the same already.
    await this.#pullConsumer.confirm();
    await keepDeadLetters(this.#context, resolved.deadLetters);
    const { timeMs } = this.#context.deduplication;
    for (const { seq, msgId, ids } of await publishFrames(this.#context, resolved.frames)) {
      this.#rebuilt.checkpoints.note({ seq, msgId, ids: Buffer.from(ids, 'base64'), timeMs });
    }
    await this.#surely(() => this.#rebuilt.checkpoints.verify());
    for (const delivery of deliveries) {
      delivery.ack();
      this.#inWork.delete(delivery);
    }
  }
}
