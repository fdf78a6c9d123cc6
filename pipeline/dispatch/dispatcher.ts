import { openCursor } from '../../shared/log/cursor.ts';
import { noticeLosses } from '../../shared/log/notice-losses.ts';
import { logCursorTrouble } from '../../shared/log/log-cursor-trouble.ts';
import { retriesOfDestination } from '../../shared/log/subjects.ts';
import { countBySubject } from '../../shared/log/subject-log.ts';
import { streams } from '../../shared/log/topology.ts';
import type { Actor } from '../host/actor.ts';
import { createDeadLetterWriter } from './dead-letter-writer.ts';
import { DestinationConsumer } from './destination-consumer.ts';
import { DispatchRun } from './dispatch-run.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import { createDispatcherCounts } from './dispatcher-stats.ts';
import { openHealthKeeper } from './health-keeper.ts';
import { createRetryReader } from './retry-reader.ts';
import { createRetryWriter } from './retry-writer.ts';

export type DispatcherActor = Actor & {
  /** A new version may have changed the target. */
  reconfigured(): void;
  /** Somebody else put something into a tier of the retry log: a replay. */
  retriesStored(tier: number): void;
};

/**
 * Starts the dispatcher of one destination: takes the resolved events of its account, decides which of them the
 * destination gets, sends them in order of each visitor, and brings what fails to the retry log or the dead letters.
 * A frame is acknowledged once each of its events is where it belongs and health has counted it.
 */
export async function startDispatcher(options: DispatcherOptions): Promise<DispatcherActor> {
  const { connection, destinationId, settings, logger } = options;
  const abort = new AbortController();
  const counts = createDispatcherCounts();
  const onError = (error: unknown): void => logger.warn({ destinationId, err: error }, 'dispatcher: the log failed');
  const keeper = await openHealthKeeper({
    bucket: options.health,
    destinationId,
    instanceId: options.instanceId,
    flushEveryMs: settings.healthFlushMs,
    onError,
  });
  const storing = {
    connection,
    destinationId,
    signal: abort.signal,
    onRetry: (reason: string, tries: number): void => {
      counts.log_retries += 1;
      if (tries === 3) logger.warn({ destinationId, reason }, 'dispatcher: the log does not take a message, trying on');
    },
  };
  const retriesWaiting = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  const consumer = new DestinationConsumer(options);
  const cursor = await openCursor(connection, {
    consumer,
    bufferedMax: settings.framesBufferedMax,
    onTrouble: logCursorTrouble(logger, { destinationId }),
    losses: noticeLosses({ connection, stream: streams.events, logger, fields: { destinationId } }, () => {
      counts.lost_frames += 1;
    }),
  });
  const deadLetters = createDeadLetterWriter(storing);
  const run: DispatchRun = new DispatchRun({
    options,
    counts,
    keeper,
    cursor,
    abort,
    deadLetters,
    sender: options.createSender(settings.concurrency),
    retryWriter: createRetryWriter(storing, (tier) => reader.stored(tier)),
    retryReader: () => reader,
    onAcknowledged: (seq) => consumer.acknowledged(seq),
  });
  const reader = createRetryReader({
    connection,
    destinationId,
    onFrame: (frame) => run.takeRetries(frame),
    onUnreadable: (data, error) => deadLetters.addUnreadable(data, error instanceof Error ? error.message : ''),
    onError,
  });
  for (const subject of retriesWaiting.keys()) reader.stored(Number(subject.split('.').at(-1)));
  run.start();
  return {
    done: run.done,
    stop: (deadlineMs) => run.stop(deadlineMs),
    stats: () => Object.assign(counts, run.gauges()),
    reconfigured: () => run.wake(),
    retriesStored: (tier) => reader.stored(tier),
  };
}
