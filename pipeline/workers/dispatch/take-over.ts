import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import { noticeLosses } from '../../../shared/nats/messages/lost-messages.ts';
import { findSeqAt } from '../../../shared/nats/messages/find-seq-at.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { DestinationConsumer } from './lifecycle/destination-consumer.ts';
import { OwnedPosition } from './lifecycle/owned-position.ts';
import type { FrameQuota } from './sources/frame-quota.ts';

/** A claimed destination, with the consumer that reads its account's log. */
export type TakenOver = {
  readonly pullConsumer: PullConsumer;
  readonly position: OwnedPosition;
  /** Events up to this sequence are skipped; 0 if no event is skipped. */
  readonly skipUpTo: number;
};

/** Claims the position of the destination, and creates the destination's consumer at that position. */
export async function takeOver(
  options: DispatcherOptions,
  quota: FrameQuota,
  counts: DispatcherCounts,
): Promise<TakenOver> {
  const { connection, destinationId, logger, positions: bucket } = options;
  const consumer = new DestinationConsumer(options);
  let position: OwnedPosition | undefined;
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    finishedBefore: async (acked) => {
      position = await OwnedPosition.claim({ ...options, bucket }, acked);
      consumer.startFrom = { timeMs: position.sinceMs };
      // Before the consumer is opened, which nothing would close if this fails.
      if (position.isLost) position.skipUpTo = await endAtPublish(options, counts);
      return position.finished;
    },
    bufferedMax: () => quota.framesAheadMax,
    isOneOfMany: true,
    onTrouble: logConsumerTrouble(logger, { destinationId }),
    losses: noticeLosses({ connection, stream: streams.events, logger, fields: { destinationId } }, () => {
      counts.lost_frames += 1;
    }),
  });
  if (position === undefined) throw new Error('no position was claimed');
  return { pullConsumer, position, skipUpTo: position.skipUpTo };
}

/**
 * Returns the last sequence to skip. No record shows which of the events older than the live version were delivered, so
 * all of these are recorded as skipped, and not sent.
 */
async function endAtPublish(
  { connection, destinationId, publishedAtMs: startedAtMs, target, logger }: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<number> {
  counts.positions_lost += 1;
  logger.error(
    { destinationId },
    'dispatcher: POSITIONS has no position of this destination, which received events before. ' +
      'It continues from the publication of its newest version; earlier events are recorded as skipped, though some of them may have been delivered',
  );
  // The live version may be newer than the one with which the actor was first started.
  const publishedAtMs = target()?.publishedAtMs ?? startedAtMs;
  return (await findSeqAt(connection, streams.events, publishedAtMs)) - 1;
}
