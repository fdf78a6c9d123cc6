import {
  isParkedTier,
  isReplayTier,
  parkedTier,
  retryHeadBytes,
  settledNoteTier,
} from '../../../shared/contracts/events/retry-record.ts';
import { retriesOfDestination } from '../../../shared/contracts/subjects.ts';
import { sumBytes } from '../../../shared/nats/messages/read-messages.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Periodic } from '../../../shared/runtime/every.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { referredTo } from './events/held-references.ts';
import type { HeldReferences } from './events/held-references.ts';
import { RetryQuota, retryLimits } from './settlement/retry-quota.ts';
import type { RetryLimits, RetryQuotaOptions } from './settlement/retry-quota.ts';
import { RetryWriter } from './settlement/retry-writer.ts';
import type { RetryWriterOptions } from './settlement/retry-writer.ts';
import type { LogWriterOptions } from './settlement/log-writer.ts';
import { RetryReader } from './sources/retry-reader.ts';
import { watchLostHeads } from './waiting/lost-heads.ts';
import { ParkedFrames } from './waiting/parked-frames.ts';
import { readWaiting } from './waiting/read-waiting.ts';
import type { ComesAgain } from './waiting/read-waiting.ts';
import { SettledNotes } from './waiting/settled-notes.ts';
import { VisitorOrder } from './waiting/visitor-order.ts';
import { WaitingVisitors } from './waiting/waiting-visitors.ts';

/** The readers and writers of a destination's retry log. */
export type RetryLog = {
  readonly retries: RetryReader;
  readonly retryWriter: RetryWriter;
  readonly retryQuota: RetryQuota;
  /** Undefined if the destination has order `none`. */
  readonly visitorOrder: VisitorOrder | undefined;
  readonly lostHeads: Periodic | undefined;
};

type Opening = {
  readonly keepsOrder: boolean;
  readonly references: HeldReferences;
  readonly comesAgain: ComesAgain;
  readonly writing: LogWriterOptions & Pick<RetryWriterOptions, 'confirm'>;
  readonly warn: (error: unknown) => void;
};

/**
 * In each tier, finished frames that are not yet removed may take up to this fraction of the destination's quota in the
 * retry log.
 */
const finishedShare = 1 / 16;

/** Opens the retry log of a destination, and reads its waiting events before anything is sent. */
export async function openRetryLog(
  options: DispatcherOptions,
  counts: DispatcherCounts,
  { keepsOrder, references, comesAgain, writing, warn }: Opening,
): Promise<RetryLog> {
  const { connection, destinationId } = options;
  const messages = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  const tiersStored = new Set([...messages.keys()].map(tierOf));
  const waits = { connection, destinationId, tiersStored, references, comesAgain };
  const parked = keepsOrder ? undefined : new SettledNotes({ connection, destinationId });
  if (parked !== undefined) await readWaiting(waits, parked);
  const visitorOrder = keepsOrder ? await openVisitorOrder(options, counts, waits, warn) : undefined;
  let retryWriter: RetryWriter | undefined;
  const otherBytes = (): number => (visitorOrder?.bytesParked ?? 0) + (retryWriter?.bytesWaiting ?? 0);
  const retryQuota = await openRetryQuota(options, { counts, otherBytes, warn }, { tiersStored, keepsOrder });
  const retries = new RetryReader({
    connection,
    destinationId,
    events: options.referencedEvents,
    references,
    parked,
    finishedBytesMax: () => retryQuota.bytesMax * finishedShare,
    onRemoved: (bytes) => retryQuota.removed(bytes),
    warn,
  });
  for (const tier of tiersStored) retries.stored(tier);
  retryWriter = new RetryWriter({
    ...writing,
    hasRoom: (bytes, isReplacement) => retryQuota.hasRoom(bytes, isReplacement),
    readTo: (tier) => retries.readTo(tier),
    onStored: (tier, { seq, bytes, records, isReused }) => {
      if (isReused) retries.wentBack(tier, seq);
      // The log's answer may arrive after the frame was read and finished.
      if (!retries.hasFinished({ tier, seq })) references.stored(seq, referredTo(records));
      retries.stored(tier);
      if (tier !== parkedTier || !keepsOrder) retryQuota.stored(bytes);
    },
  });
  const lostHeads = visitorOrder && watchLost(options, visitorOrder, retries, warn);
  // Begins last, when nothing can fail any more: nothing stops it after a failed opening.
  visitorOrder?.begin();
  return { retries, retryWriter, retryQuota, visitorOrder, lostHeads };
}

function watchLost(
  { connection, destinationId, settings, logger }: DispatcherOptions,
  order: VisitorOrder,
  retries: RetryReader,
  warn: (error: unknown) => void,
): Periodic {
  return watchLostHeads({
    connection,
    destinationId,
    order,
    isFinished: (place) => retries.hasFinished(place),
    everyMs: settings.lostHeadsEveryMs,
    warn,
    onLost: (events) =>
      logger.error({ destinationId, events }, 'dispatcher: events waiting for a retry are missing from the retry log'),
  });
}

/** Measures how many bytes of the retry log the destination uses, from the sizes in the headers of its messages. */
async function openRetryQuota(
  { connection, destinationId, accountId, settings, retryUse }: DispatcherOptions,
  own: Pick<RetryQuotaOptions, 'counts' | 'otherBytes' | 'warn'>,
  { tiersStored, keepsOrder }: { readonly tiersStored: ReadonlySet<number>; readonly keepsOrder: boolean },
): Promise<RetryQuota> {
  const isOwn = (tier: number): boolean =>
    !isReplayTier(tier) && tier !== settledNoteTier && (!isParkedTier(tier) || !keepsOrder);
  const measure = (): Promise<number> =>
    sumBytes(
      connection,
      streams.retry,
      retriesOfDestination(destinationId),
      (subject) => isOwn(tierOf(subject)),
      retryHeadBytes,
    );
  const bytes = tiersStored.size === 0 ? 0 : await measure();
  const limits = (): RetryLimits => retryLimits(accountId, retryUse(), settings.retryQuota);
  return new RetryQuota({ ...own, limits, measure }, bytes);
}

const tierOf = (subject: string): number => Number(subject.split('.').at(-1));

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
    comesAgain: waits.comesAgain,
    limits: settings.order,
    counts,
    load: (wanted) => referencedEvents.load(connection, wanted),
    warn: (error) => logger.warn({ destinationId, err: error }, 'dispatcher: reading parked events failed'),
  });
}
