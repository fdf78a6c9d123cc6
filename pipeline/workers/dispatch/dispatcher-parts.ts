import type { DeliveryOrder } from '../../../shared/destinations/common-settings.ts';
import {
  isParkedTier,
  isReplayTier,
  parkedTier,
  retryHeadBytes,
  settledNoteTier,
} from '../../../shared/contracts/events/retry-record.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { logConsumerTrouble } from '../../../shared/nats/consume/log-consumer-trouble.ts';
import { noticeLosses } from '../../../shared/nats/messages/lost-messages.ts';
import { retriesOfDestination } from '../../../shared/contracts/subjects.ts';
import { sumBytes } from '../../../shared/nats/messages/read-messages.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { findSeqAt } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Periodic } from '../../../shared/runtime/every.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { HealthKeeper } from './health/health-keeper.ts';
import { DestinationConsumer } from './lifecycle/destination-consumer.ts';
import { writePlace } from './sources/dispatch-place.ts';
import type { FrameShare } from './sources/frame-shares.ts';
import { FramesInFlight } from './sources/frames-in-flight.ts';
import { Inbox, placeOf } from './sources/inbox.ts';
import { Isolation, aloneWithinMs } from './sources/isolation.ts';
import type { FrameOpener } from './events/opened-frames.ts';
import { OwnedPosition } from './lifecycle/owned-position.ts';
import { DeadLetterWriter } from './settlement/dead-letter-writer.ts';
import { createOutcomeObserver } from './settlement/outcome-observer.ts';
import { Outbox } from './settlement/outbox.ts';
import { watchLostHeads } from './waiting/lost-heads.ts';
import { ParkedFrames } from './waiting/parked-frames.ts';
import { readWaiting } from './waiting/read-waiting.ts';
import { VisitorOrder } from './waiting/visitor-order.ts';
import { WaitingVisitors } from './waiting/waiting-visitors.ts';
import { HeldReferences, referredTo } from './events/held-references.ts';
import { RetryReader } from './sources/retry-reader.ts';
import { RetryShare, retryLimits } from './settlement/retry-share.ts';
import type { RetryLimits, RetryShareOptions } from './settlement/retry-share.ts';
import { RetryWriter } from './settlement/retry-writer.ts';
import { Sending } from './sending/sending.ts';

/** Of what a destination may have in the retry log: so much of it may be finished and not removed yet, in each tier. */
const finishedShare = 1 / 16;

/** What a dispatcher works with, from when it has taken its destination over. */
export type DispatcherParts = {
  readonly order: DeliveryOrder;
  readonly pullConsumer: PullConsumer;
  /** Settles once another dispatcher is found to have claimed the destination. */
  readonly taken: OwnedPosition['taken'];
  /** Events up to this sequence are skipped; 0 for none. */
  readonly skipUpTo: number;
  readonly inbox: Inbox;
  readonly opener: FrameOpener;
  /** What it may hold of frames. */
  readonly frameShare: FrameShare;
  /** Keeps frames of the retry log that are suspected by themselves. */
  readonly isolation: Isolation;
  readonly sending: Sending;
  readonly outbox: Outbox;
  readonly retries: RetryReader;
  readonly retryWriter: RetryWriter;
  readonly retryShare: RetryShare;
  /** Undefined where the destination keeps no order over failed attempts. */
  readonly visitorOrder: VisitorOrder | undefined;
  readonly lostHeads: Periodic | undefined;
  readonly health: HealthKeeper;
  /** Ends the tries of what is being written to the log. */
  readonly abort: AbortController;
};

/**
 * Takes the destination over from whoever dispatched to it before, and opens all that its dispatcher works with where
 * that one ended.
 */
export async function openDispatcherParts(
  options: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<DispatcherParts> {
  const { bytesHeldMax: bytesMax, framesBufferedMax: framesAheadMax } = options.settings;
  const frameShare = options.frameShares.join({ bytesMax, framesAheadMax });
  let taken: TakenOver | undefined;
  try {
    taken = await takeOver(options, frameShare, counts);
    return { ...(await openPartsOn(taken, options, counts)), frameShare };
  } catch (error) {
    frameShare.leave();
    await taken?.pullConsumer.close();
    throw error;
  }
}

type TakenOver = {
  readonly pullConsumer: PullConsumer;
  readonly position: OwnedPosition;
  readonly skipUpTo: number;
};

/** Claims the position of the destination, and has its consumer made there. */
async function takeOver(options: DispatcherOptions, share: FrameShare, counts: DispatcherCounts): Promise<TakenOver> {
  const { connection, destinationId, logger, positions: bucket } = options;
  const consumer = new DestinationConsumer(options);
  let position: OwnedPosition | undefined;
  const pullConsumer = await openPullConsumer(connection, {
    consumer,
    finishedBefore: async (acked) => {
      position = await OwnedPosition.claim({ ...options, bucket }, acked);
      consumer.startFrom = { timeMs: position.sinceMs };
      return position.finished;
    },
    bufferedMax: () => share.framesAheadMax,
    isOneOfMany: true,
    onTrouble: logConsumerTrouble(logger, { destinationId }),
    losses: noticeLosses({ connection, stream: streams.events, logger, fields: { destinationId } }, () => {
      counts.lost_frames += 1;
    }),
  });
  if (position === undefined) throw new Error('no position was claimed');
  const skipUpTo = position.isLost ? await endAtPublish(options, counts) : 0;
  return { pullConsumer, position, skipUpTo };
}

/** Nothing says what was delivered before the live version was published: it is not sent again, and recorded as skipped. */
async function endAtPublish(
  { connection, destinationId, publishedAtMs, logger }: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<number> {
  counts.positions_lost += 1;
  logger.error(
    { destinationId },
    'dispatcher: POSITIONS has no position of this destination, which was sent to before. It starts at its newest version; ' +
      'earlier events are recorded as skipped, though some of them may have been delivered',
  );
  return (await findSeqAt(connection, streams.events, publishedAtMs)) - 1;
}

async function openPartsOn(
  { pullConsumer, position, skipUpTo }: TakenOver,
  options: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<Omit<DispatcherParts, 'frameShare'>> {
  const { connection, destinationId, instanceId, settings, logger, retryPolicy, sourceActivity } = options;
  const order = options.target()?.prepared?.order ?? 'visitor';
  const warn = (error: unknown): void => logger.warn({ destinationId, err: error }, 'dispatcher: the log failed');
  const frames = new FramesInFlight(settings.ackWaitMs / 3);
  let sending: Sending | undefined;
  const health = await HealthKeeper.open({
    bucket: options.health,
    destinationId,
    instanceId,
    flushEveryMs: settings.healthFlushMs,
    hoursKept: settings.hoursKept,
    place: () => writePlace(placeOf(pullConsumer, frames)),
    storePlace: (place) => position.store(place, references.oldest),
    sending: () => sending?.state,
    isLogThere: () => connection.connected,
    warn,
  });
  const retriesWaiting = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  const tiersStored = new Set([...retriesWaiting.keys()].map(tierOf));
  const references = new HeldReferences(() => health.moved());
  const waits = { connection, destinationId, tiersStored, references };
  if (order === 'none') await readWaiting(waits, undefined);
  const visitorOrder = order === 'none' ? undefined : await openVisitorOrder(options, counts, waits, warn);
  // Also finds out whether a dispatcher that claimed it later is there.
  health.moved();
  let retryWriter: RetryWriter | undefined;
  const otherBytes = (): number => (visitorOrder?.bytesParked ?? 0) + (retryWriter?.bytesWaiting ?? 0);
  const hasOrder = visitorOrder !== undefined;
  const retryShare = await openRetryShare(options, { counts, otherBytes, warn }, { tiersStored, hasOrder });
  const retries = new RetryReader({
    connection,
    destinationId,
    events: options.referencedEvents,
    references,
    isParkedDue: order === 'none',
    finishedBytesMax: () => retryShare.bytesMax * finishedShare,
    onRemoved: (bytes) => retryShare.removed(bytes),
    warn,
  });
  for (const tier of tiersStored) retries.stored(tier);
  const abort = new AbortController();
  const storing = {
    connection,
    destinationId,
    signal: abort.signal,
    onRetry: (reason: string, tries: number): void => {
      counts.log_retries += 1;
      if (tries === 3) logger.warn({ destinationId, reason }, 'dispatcher: publishing to the log failed; retrying');
    },
  };
  retryWriter = new RetryWriter({
    ...storing,
    hasRoom: (bytes, isReplacement) => retryShare.hasRoom(bytes, isReplacement),
    onStored: (tier, { seq, bytes, records }) => {
      references.stored(seq, referredTo(records));
      if (tier !== parkedTier || !hasOrder) retryShare.stored(bytes);
    },
  });
  sending = new Sending({
    sender: options.createSender(),
    concurrency: settings.concurrency,
    lingerMs: settings.lingerMs,
    accessRetry: settings.accessRetry,
    requestBytesMax: settings.requestBytesMax,
    keepsOrder: visitorOrder !== undefined,
  });
  const lostHeadsOptions = {
    connection,
    destinationId,
    everyMs: settings.lostHeadsEveryMs,
    warn,
    onLost: (events: number): void =>
      logger.error({ destinationId, events }, 'dispatcher: events waiting for a retry are missing from the retry log'),
  };
  const opener = options.openedFrames.join(options.accountId);
  const inbox = new Inbox({
    pullConsumer,
    retries,
    order: visitorOrder,
    health,
    settledBefore: position.parts,
    frames,
    opener,
    counts,
  });
  return {
    order,
    pullConsumer,
    skipUpTo,
    taken: position.taken,
    inbox,
    opener,
    isolation: new Isolation({
      inbox,
      // Requests that hang end by then.
      patienceMs: settings.sender.totalTimeoutMs + aloneWithinMs,
      mayTake: () => retries.isOpen,
    }),
    sending,
    outbox: new Outbox({
      health,
      retryWriter,
      deadLetters: new DeadLetterWriter(storing),
      retryPolicy,
      sourceActivity,
      order: visitorOrder,
      keepFrame: (seq, frame) => options.referencedEvents.keep(seq, frame),
      isErased: (head) => options.erasures.isErased(options.accountId, head),
      observe: createOutcomeObserver(options),
      counts,
    }),
    retries,
    retryWriter,
    retryShare,
    visitorOrder,
    lostHeads: visitorOrder && watchLostHeads({ ...lostHeadsOptions, order: visitorOrder }),
    health,
    abort,
  };
}

/** Counts what the destination has in the retry log: the heads of what is there already say how large it is. */
async function openRetryShare(
  { connection, destinationId, accountId, settings, retryUse }: DispatcherOptions,
  own: Pick<RetryShareOptions, 'counts' | 'otherBytes' | 'warn'>,
  { tiersStored, hasOrder }: { readonly tiersStored: ReadonlySet<number>; readonly hasOrder: boolean },
): Promise<RetryShare> {
  const isOwn = (tier: number): boolean =>
    !isReplayTier(tier) && tier !== settledNoteTier && (!isParkedTier(tier) || !hasOrder);
  const measure = (): Promise<number> =>
    sumBytes(
      connection,
      streams.retry,
      retriesOfDestination(destinationId),
      (subject) => isOwn(tierOf(subject)),
      retryHeadBytes,
    );
  const bytes = tiersStored.size === 0 ? 0 : await measure();
  const limits = (): RetryLimits => retryLimits(accountId, retryUse(), settings.retryShare);
  return new RetryShare({ ...own, limits, measure }, bytes);
}

const tierOf = (subject: string): number => Number(subject.split('.').at(-1));

/** Reads what waits before anything is sent. */
async function openVisitorOrder(
  { connection, destinationId, settings, logger, referencedEvents }: DispatcherOptions,
  counts: DispatcherCounts,
  waits: Parameters<typeof readWaiting>[0],
  warn: (error: unknown) => void,
): Promise<VisitorOrder> {
  const waiting = new WaitingVisitors();
  const frames = new ParkedFrames({ connection, destinationId, references: waits.references, warn });
  await readWaiting(waits, { waiting, frames });
  return new VisitorOrder({
    waiting,
    frames,
    limits: settings.order,
    counts,
    load: (wanted) => referencedEvents.load(connection, wanted),
    warn: (error) => logger.warn({ destinationId, err: error }, 'dispatcher: reading parked events failed'),
  });
}
