import type { EventHead } from '../../../shared/contracts/events/resolved-event.ts';
import type { DeliveryOrder } from '../../../shared/destinations/common-settings.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { HeldReferences } from './events/held-references.ts';
import type { FrameOpener } from './events/opened-frames.ts';
import { HealthKeeper } from './health/health-keeper.ts';
import type { OwnedPosition } from './lifecycle/owned-position.ts';
import { openRetryLog } from './open-retry-log.ts';
import type { RetryLog } from './open-retry-log.ts';
import { Sending } from './sending/sending.ts';
import { DeadLetterWriter } from './settlement/dead-letter-writer.ts';
import type { LogWriterOptions } from './settlement/log-writer.ts';
import { createKeepUntried } from './settlement/keep-untried.ts';
import type { KeepUntried } from './settlement/keep-untried.ts';
import { createOutcomeObserver } from './settlement/outcome-observer.ts';
import type { OutcomeObserver } from './settlement/outcome-observer.ts';
import { Outbox } from './settlement/outbox.ts';
import { writePlace } from './sources/dispatch-place.ts';
import type { FrameQuota } from './sources/frame-quota.ts';
import { FramesInFlight } from './sources/frames-in-flight.ts';
import { Inbox, placeOf } from './sources/inbox.ts';
import { takeOver } from './take-over.ts';
import type { TakenOver } from './take-over.ts';

/** The parts of a dispatcher once it has taken over its destination. */
export type DispatcherParts = Omit<TakenOver, 'position'> &
  RetryLog & {
    readonly order: DeliveryOrder;
    /** Resolves once another dispatcher is found to have claimed the destination. */
    readonly taken: OwnedPosition['taken'];
    readonly inbox: Inbox;
    readonly opener: FrameOpener;
    /** Limits the frames that the dispatcher may hold. */
    readonly frameQuota: FrameQuota;
    readonly sending: Sending;
    readonly outbox: Outbox;
    readonly keepUntried: KeepUntried;
    readonly observe: OutcomeObserver;
    readonly health: HealthKeeper;
    /** Aborts the writes to the log. */
    readonly abort: AbortController;
  };

/** Takes the destination over from its previous dispatcher, and opens all parts of the new one. */
export async function openDispatcherParts(
  options: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<DispatcherParts> {
  const { bytesHeldMax: bytesMax, framesBufferedMax: framesAheadMax } = options.settings;
  const frameQuota = options.frameQuotas.join({ bytesMax, framesAheadMax });
  let taken: TakenOver | undefined;
  let keeping: Keeping | undefined;
  try {
    taken = await takeOver(options, frameQuota, counts);
    keeping = await openKeeping(taken, options);
    return { ...(await openOn(taken, keeping, options, counts)), frameQuota };
  } catch (error) {
    frameQuota.leave();
    await taken?.pullConsumer.close();
    await Promise.all([keeping?.health.stop(), keeping?.sending.close()]);
    throw error;
  }
}

/** The parts that hold events in flight and their stored state. */
type Keeping = {
  readonly order: DeliveryOrder;
  readonly frames: FramesInFlight;
  readonly references: HeldReferences;
  readonly health: HealthKeeper;
  readonly sending: Sending;
};

async function openKeeping({ pullConsumer, position }: TakenOver, options: DispatcherOptions): Promise<Keeping> {
  const { connection, destinationId, instanceId, settings } = options;
  const order = options.target()?.prepared?.order ?? 'visitor';
  const frames = new FramesInFlight(settings.ackWaitMs / 3);
  const sending = new Sending({
    sender: options.createSender(),
    concurrency: settings.concurrency,
    lingerMs: settings.lingerMs,
    accessRetry: settings.accessRetry,
    requestBytesMax: settings.requestBytesMax,
    keepsOrder: order !== 'none',
  });
  const health = await HealthKeeper.open({
    bucket: options.health,
    destinationId,
    instanceId,
    flushEveryMs: settings.healthFlushMs,
    hoursKept: settings.hoursKept,
    place: () => writePlace(placeOf(pullConsumer, frames, position.parts)),
    storePlace: (place) => position.store(place, references.oldest),
    sending: () => sending.state,
    isLogThere: () => connection.connected,
    warn: warnOf(options),
  });
  const references = new HeldReferences(() => health.moved());
  return { order, frames, references, health, sending };
}

const warnOf =
  ({ logger, destinationId }: DispatcherOptions) =>
  (error: unknown): void =>
    logger.warn({ destinationId, err: error }, 'dispatcher: the log failed');

async function openOn(
  { pullConsumer, position, skipUpTo }: TakenOver,
  { order, frames, references, health, sending }: Keeping,
  options: DispatcherOptions,
  counts: DispatcherCounts,
): Promise<Omit<DispatcherParts, 'frameQuota'>> {
  const { accountId, retryPolicy, sourceActivity, referencedEvents, erasures } = options;
  const abort = new AbortController();
  const writing = writingTo(options, counts, abort.signal);
  const warn = warnOf(options);
  const retryLog = await openRetryLog(options, counts, {
    keepsOrder: order !== 'none',
    references,
    // Events up to `skipUpTo` are skipped: the retry log has the only copies that can be sent.
    comesAgain: (origin) => origin.seq > skipUpTo && !position.hasSettled(origin),
    writing: { ...writing, confirm: () => pullConsumer.confirm() },
    warn,
  });
  // The write also shows whether a later dispatcher has claimed the destination.
  health.moved();
  const { retries, retryWriter, visitorOrder } = retryLog;
  const opener = options.openedFrames.join(accountId);
  const settledBefore = position.parts;
  const records = {
    health,
    deadLetters: new DeadLetterWriter(writing),
    isErased: (head: EventHead) => erasures.isErased(accountId, head),
    observe: createOutcomeObserver(options),
    counts,
  };
  const keepUntried = createKeepUntried(records);
  const outbox = new Outbox({
    ...records,
    retryWriter,
    keepUntried,
    retryPolicy,
    sourceActivity,
    order: visitorOrder,
    keepFrame: (seq, frame) => referencedEvents.keep(seq, frame),
  });
  return {
    ...retryLog,
    order,
    pullConsumer,
    skipUpTo,
    taken: position.taken,
    inbox: new Inbox({ pullConsumer, retries, order: visitorOrder, health, settledBefore, frames, opener, counts }),
    opener,
    sending,
    outbox,
    keepUntried,
    observe: records.observe,
    health,
    abort,
  };
}

/** How records are written to the retry log and the dead letters. */
function writingTo(
  { connection, destinationId, logger }: DispatcherOptions,
  counts: DispatcherCounts,
  signal: AbortSignal,
): LogWriterOptions {
  return {
    connection,
    destinationId,
    signal,
    onRetry: (reason, tries) => {
      counts.log_retries += 1;
      if (tries === 3) logger.warn({ destinationId, reason }, 'dispatcher: publishing to the log failed; retrying');
    },
  };
}
