import type { DeliveryOrder } from '../../../shared/destinations/common-settings.ts';
import { parkedTier } from '../../../shared/contracts/events/retry-record.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { noticeLosses } from '../../../shared/nats/messages/notice-losses.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import { retriesOfDestination } from '../../../shared/contracts/subjects.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Actor } from '../actor.ts';
import { createDeadLetterWriter } from './outbox/dead-letter-writer.ts';
import { DestinationConsumer } from './destination-consumer.ts';
import { joinParts, writePlace } from './inbox/dispatch-place.ts';
import { DispatchRun } from './dispatch-run.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { Waits } from './dispatch-parts.ts';
import { createDispatcherCounts } from './dispatcher-stats.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { openHealthKeeper } from './outbox/health-keeper.ts';
import { ParkedFrames } from './outbox/parked-frames.ts';
import { readPlaces } from './inbox/read-places.ts';
import { readWaiting } from './outbox/read-waiting.ts';
import { createRetryReader } from './outbox/retry-reader.ts';
import { createRetryWriter } from './outbox/retry-writer.ts';
import { WaitingVisitors } from './outbox/waiting-visitors.ts';

export type DispatcherActor = Actor & {
  /** A new version may have changed the target. */
  reconfigured(): void;
  /** Somebody else put something into a tier of the retry log: a replay. */
  retriesStored(tier: number): void;
};

/** How long what is under way may take before a new `order` applies, in ms. */
const orderChangeMs = 15_000;

/**
 * Starts the dispatcher of one destination. What its setting `order` says holds for a run from beginning to end: where
 * a version changes it the run ends as if it were stopped, and the next one begins with what the log has.
 */
export async function startDispatcher(options: DispatcherOptions): Promise<DispatcherActor> {
  const counts = createDispatcherCounts();
  let orderChanged: () => void = () => undefined;
  const start = (): Promise<DispatcherRun> => startRun(options, counts, () => orderChanged());
  let run = await start();
  let changing: Promise<void> | undefined;
  let isStopping = false;
  let end: (error?: unknown) => void = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  const isChanged = (): boolean => !isStopping && (orderOf(options) ?? run.order) !== run.order;
  const watch = (watched: DispatcherRun): void => {
    watched.done.then(
      () => changing ?? end(),
      (error: unknown) => end(error),
    );
  };
  const changeOrder = async (): Promise<void> => {
    while (isChanged()) {
      await run.stop(orderChangeMs);
      if (isStopping) return;
      run = await start();
      watch(run);
    }
    if (isStopping) await run.stop(0);
  };
  orderChanged = (): void => {
    if (changing !== undefined || isStopping) return;
    // Later: the run tells of it in the middle of its own work, and again while it stops.
    changing = Promise.resolve()
      .then(changeOrder)
      .then(
        () => {
          changing = undefined;
          if (isStopping) end();
        },
        (error: unknown) => end(error),
      );
  };
  watch(run);
  return {
    done,
    async stop(deadlineMs) {
      isStopping = true;
      await run.stop(deadlineMs);
      await changing;
    },
    stats: () => Object.assign(counts, run.gauges()),
    reconfigured: () => run.reconfigured(),
    retriesStored: (tier) => run.retriesStored(tier),
  };
}

/** The order in force; undefined while the settings cannot be used, and nothing is sent. */
function orderOf({ target }: DispatcherOptions): DeliveryOrder | undefined {
  return target()?.prepared?.order;
}

type DispatcherRun = Pick<DispatchRun, 'done' | 'stop' | 'gauges'> & {
  readonly order: DeliveryOrder;
  reconfigured(): void;
  retriesStored(tier: number): void;
};

/**
 * Takes the resolved events of the destination's account, decides which of them the destination gets, sends them in
 * order of each visitor, and brings what fails to the retry log or the dead letters. A frame is acknowledged once each
 * of its events is where it belongs and health has counted it.
 */
async function startRun(
  options: DispatcherOptions,
  counts: DispatcherCounts,
  onOrderChanged: () => void,
): Promise<DispatcherRun> {
  const { connection, destinationId, settings, logger } = options;
  const consumer = new DestinationConsumer(options);
  // From here on the dispatcher before is given nothing, so what it has noted is what counts.
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    bufferedMax: settings.framesBufferedMax,
    onTrouble: logConsumerTrouble(logger, { destinationId }),
    losses: noticeLosses({ connection, stream: streams.events, logger, fields: { destinationId } }, () => {
      counts.lost_frames += 1;
    }),
  });
  try {
    return await startOn(pullConsumer, consumer, options, counts, onOrderChanged);
  } catch (error) {
    await pullConsumer.close();
    throw error;
  }
}

async function startOn(
  pullConsumer: PullConsumer,
  consumer: DestinationConsumer,
  options: DispatcherOptions,
  counts: DispatcherCounts,
  onOrderChanged: () => void,
): Promise<DispatcherRun> {
  const { connection, destinationId, settings, logger } = options;
  const abort = new AbortController();
  const order = orderOf(options) ?? 'visitor';
  const onError = (error: unknown): void => logger.warn({ destinationId, err: error }, 'dispatcher: the log failed');
  const places = pullConsumer.isTakenOver ? await readPlaces(connection, destinationId) : [];
  for (const { finished } of places) pullConsumer.restore(finished);
  const keeper = await openHealthKeeper({
    bucket: options.health,
    destinationId,
    instanceId: options.instanceId,
    flushEveryMs: settings.healthFlushMs,
    place: () => writePlace(run.place()),
    onError,
  });
  const storing = {
    connection,
    destinationId,
    signal: abort.signal,
    onRetry: (reason: string, tries: number): void => {
      counts.log_retries += 1;
      if (tries === 3)
        logger.warn({ destinationId, reason }, 'dispatcher: the log does not accept a message, retrying');
    },
  };
  const retriesWaiting = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  const tiersStored = new Set([...retriesWaiting.keys()].map((subject) => Number(subject.split('.').at(-1))));
  const waits = order === 'none' ? undefined : await readWaits(options, tiersStored, onError);
  const deadLetters = createDeadLetterWriter(storing);
  const run: DispatchRun = new DispatchRun({
    options,
    counts,
    keeper,
    pullConsumer,
    abort,
    deadLetters,
    sender: options.createSender(settings.concurrency),
    retryWriter: createRetryWriter(storing, (tier) => reader.stored(tier)),
    retryReader: () => reader,
    settledBefore: joinParts(places),
    order,
    waits,
    onOrderChanged,
    onAcknowledged: (seq) => consumer.acknowledged(seq),
  });
  const reader = createRetryReader({
    connection,
    destinationId,
    isParkedDue: order === 'none',
    onFrame: (frame) => run.takeRetries(frame),
    onUnreadable: (data, error) => deadLetters.addUnreadable(data, error instanceof Error ? error.message : ''),
    onError,
  });
  for (const tier of tiersStored) reader.stored(tier);
  run.start();
  return {
    order,
    done: run.done,
    stop: (deadlineMs) => run.stop(deadlineMs),
    gauges: () => run.gauges(),
    reconfigured: () => run.wake(),
    retriesStored: (tier) => {
      reader.stored(tier);
      if (tier === parkedTier) run.parkedStored();
    },
  };
}

async function readWaits(
  { connection, destinationId }: DispatcherOptions,
  tiersStored: ReadonlySet<number>,
  onError: (error: unknown) => void,
): Promise<Waits> {
  const waits = {
    waiting: new WaitingVisitors(),
    frames: new ParkedFrames({ connection, destinationId, onError }),
  };
  await readWaiting(connection, destinationId, tiersStored, waits);
  return waits;
}
