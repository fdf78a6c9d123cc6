import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { ingestSubject, resolverConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Actor } from '../worker/define-worker.ts';
import { Wakeup } from '../worker/wakeup.ts';
import { openFrameReader, runConsumerWorker } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { rangeOf, quarantineReason } from '../worker/suspicion.ts';
import type { FramesAtWork } from '../worker/suspicion.ts';
import { keepDeadLetters } from './dead-letters.ts';
import { createDeduplication } from './deduplication.ts';
import { every } from '../../../shared/runtime/every.ts';
import { PartitionWriter } from './partition-writer.ts';
import { FrameIntake } from './frame-intake.ts';
import { PartPublisher } from './part-publisher.ts';
import { rebuildDeduplication } from './rebuild-deduplication.ts';
import type { Rebuilt } from './rebuild-deduplication.ts';
import { AccountQueues } from './account-queues.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { resolvePart } from './resolve-part.ts';
import type { ResolvedPart } from './resolve-part.ts';
import { createPlanFigures } from './plan-figures.ts';
import { IdentityFigures } from './identity-figures.ts';
import { startIdentityWriter } from './identity-writer.ts';
import type { FigureWriter } from './figure-writer.ts';
import { PersonalData } from './personal-data.ts';
import { startPersonalDataWriter } from './personal-data-writer.ts';
import { startViolationWriter } from './violation-writer.ts';
import { VisitorWrites } from './visitor-writes.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { WaitingEvent } from './waiting-events.ts';
import type { ResolverContext, ResolverGauge, ResolverStat } from './resolver-context.ts';
import type { ResolverOptions } from './resolver-options.ts';
import { AccountCounts } from './account-counts.ts';
import { VisitorRateLimit } from './visitor-rate-limit.ts';
import { noReads } from './visitor-reads.ts';
import { createResolverCounts, createWriters } from './resolver-context.ts';

type EventRecorder = Awaited<ReturnType<ResolverOptions['openRecorder']>>;

/** Maximum number and bytes of frames that are pulled before they are needed. */
const bufferedFramesMax = 256;
const bufferedBytesMax = 8 * 1024 ** 2;

/**
 * Starts the resolver of one partition: it takes accepted events from the ingest log, drops repeated and unwanted ones,
 * finds their visitors, and writes them to the logs of their accounts. A frame is acknowledged once the log has all of
 * its results; after a crash the stored ids keep events from being written twice.
 */
export async function startResolver(options: ResolverOptions): Promise<Actor<ResolverStat>> {
  const { partition, connection, settings, logger, suspicion } = options;
  const counts = createResolverCounts();
  // A turn is recorded with the frames in flight of the partition, and of the account's queue that was read last.
  const atWork = new Map<object, FramesAtWork>();
  let frames: FramesAtWork | undefined;
  const beginTurn = (taken: FramesAtWork | undefined = frames): void => {
    frames = taken;
    options.beginTurn(taken);
  };
  const beginTurnOf = (source: object, taken: FramesAtWork | undefined): void => {
    if (taken === undefined) return beginTurn();
    if (taken.log === undefined) atWork.delete(source);
    else atWork.set(source, taken);
    const ranges = [...atWork.values()].flatMap(({ log }) => log ?? []);
    beginTurn({ log: rangeOf(ranges.flatMap(({ from, to }) => [{ seq: from }, { seq: to }])) });
  };
  const consumer: DurableConsumer = {
    stream: streams.ingest,
    name: resolverConsumer(partition),
    filterSubject: ingestSubject(partition),
    startFrom: 'first',
    placeIsKept: 'by-ids',
    ackWaitMs: settings.ackWaitMs,
    ackPendingMax: settings.framesInFlightMax,
  };
  // Opened before the written events are read, so that no other reader receives frames from then on.
  const reader = await openFrameReader({
    connection,
    consumer,
    bufferedMax: bufferedFramesMax,
    bufferedBytesMax,
    logger,
    fields: { partition },
    beginTurn: (taken) => beginTurnOf(consumer, taken),
    suspicion,
    quarantine: ({ data, seq }) => {
      const letter = { payload: data, reason: quarantineReason, seq, line: undefined };
      return keepDeadLetters(context, [letter]);
    },
    onLost: () => {
      counts.lost_frames += 1;
    },
  });
  const failed = new AbortController();
  const signal = AbortSignal.any([reader.signal, failed.signal]);
  const writer = new PartitionWriter({ ...options, counts, signal, confirm: () => reader.confirm() });
  const context: ResolverContext = {
    ...options,
    beginTurn,
    deduplication: createDeduplication(settings.deduplication),
    writer,
    visitorLimit: new VisitorRateLimit(
      settings.visitorRate,
      (accountId) => options.plans(accountId)?.visitorReads() ?? noReads,
    ),
    visitorsCut: new AccountCounts('visitors_cut'),
    visitorsFull: new AccountCounts('visitors_full'),
    identity: new IdentityFigures(),
    plan: createPlanFigures(),
    personalData: new PersonalData(),
    ...createWriters(),
    counts,
    signal,
  };
  const open = async (): Promise<Resolver> => {
    // Opened before EVENTS is read: if another resolver writes a message after that, the log refuses our publish, and
    // the next start reads that message.
    await writer.open();
    context.visitors.distrust();
    const rebuilt = await rebuildDeduplication(context, consumer);
    const recorder = await options.openRecorder({ ...context, planOutcomes: context.plan.outcomes });
    const figureWriters = [
      startViolationWriter(context, options.violationStore),
      startIdentityWriter(context, options.identityStore),
      startPersonalDataWriter(context, options.personalDataStore),
    ];
    const made = new Resolver(context, reader, { rebuilt, recorder, figureWriters, failed, beginTurnOf });
    await made.open();
    return made;
  };
  const resolver = await open().catch(async (error: unknown) => {
    writer.close();
    await reader.close();
    throw error;
  });
  return runConsumerWorker(reader, {
    work: () => resolver.work(),
    close: () => resolver.close(),
    stats: () => ({
      ...counts,
      ...resolver.gauges(),
      ...resolver.queueStats(),
      ...context.visitorsCut.stats(),
      ...context.visitorsFull.stats(),
      ...context.identity.stats(),
      ...context.plan.hits.stats(),
    }),
  });
}

/** The work of one partition: reads frames, resolves waiting events in batches, and acknowledges finished frames. */
class Resolver {
  readonly #context: ResolverContext;
  readonly #reader: FrameReader;
  readonly #parts: ResolverParts;
  readonly #waiting: WaitingEvents;
  readonly #unfinished = new UnfinishedFrames<LogMessage>();
  readonly #queues: AccountQueues;
  /** Rings after each read of a queue. */
  readonly #news = new Wakeup();
  readonly #intake: FrameIntake;
  readonly #writes: VisitorWrites;
  readonly #publisher: PartPublisher;
  /** Ends the resolver's work with an error that occurred in work that is not awaited. */
  #fail: (error: unknown) => void = () => undefined;

  constructor(context: ResolverContext, reader: FrameReader, parts: ResolverParts) {
    this.#context = context;
    this.#reader = reader;
    this.#parts = parts;
    const { partEventsMax: eventsMax, accountEventsMax, writesAtOnceMax } = context.settings;
    const onFailure = (error: unknown): void => this.#fail(error);
    const [waiting, unfinished] = [new WaitingEvents({ eventsMax, accountEventsMax }), this.#unfinished];
    const queues: AccountQueues = new AccountQueues({
      context,
      waiting,
      unfinished,
      target: {
        beginTurn: (frames) => parts.beginTurnOf(queues, frames),
        confirm: () => reader.confirm(),
        onNews: () => this.#news.ring(),
      },
      onFailure,
    });
    this.#waiting = waiting;
    this.#queues = queues;
    const onCopied = (): void => this.#finish();
    this.#intake = new FrameIntake({ context, reader, waiting, queues, unfinished, onCopied, onFailure });
    this.#publisher = new PartPublisher({
      context,
      checkpoints: parts.rebuilt.checkpoints,
      recorder: parts.recorder,
      onPublished: (part) => this.#published(part),
      onFailure,
    });
    this.#writes = new VisitorWrites({
      writesAtOnceMax,
      onResolved: (resolved) => this.#publisher.publish(resolved),
      onFailure,
    });
  }

  open(): Promise<void> {
    return this.#queues.open();
  }

  /** Writes the checkpoints and figures that wait, so that the next resolver of the partition has less to read. */
  async close(): Promise<void> {
    const { rebuilt, recorder, figureWriters } = this.#parts;
    this.#context.writer.close();
    await Promise.all([
      rebuilt.checkpoints.close(!this.#reader.signal.aborted),
      recorder.close(),
      ...figureWriters.map((writer) => writer.close()),
      this.#queues.close(),
    ]);
  }

  queueStats(): ReturnType<AccountQueues['stats']> {
    return this.#queues.stats();
  }

  gauges(): Record<ResolverGauge, number> {
    const { deduplication } = this.#context;
    const { rebuilt, recorder } = this.#parts;
    return {
      ...recorder.gauges(),
      accounts_apart: this.#writes.accountsApart.size,
      accounts_queued: this.#queues.size,
      accounts_writing: this.#writes.accounts.size,
      checkpoint_ids_waiting: rebuilt.checkpoints.idsWaiting,
      rebuild_seconds: rebuilt.tookMs / 1_000,
      rebuild_frames: rebuilt.frames,
      deduplication_ids: deduplication.size,
      deduplication_bytes: deduplication.bytes,
      deduplication_window_seconds: deduplication.effectiveWindowMs / 1_000,
    };
  }

  /**
   * Resolves until there are no more frames to take, and writes checkpoints meanwhile. Throws if EVENTS lost a frame of
   * this resolver.
   */
  async work(): Promise<void> {
    const { settings, connection, writer } = this.#context;
    const { checkpoints } = this.#parts.rebuilt;
    const writing = every(settings.checkpointEveryMs, () => checkpoints.write());
    let offReconnect = (): void => undefined;
    const failure = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
      offReconnect = connection.onReconnect(() => void writer.verify().catch(reject));
    });
    const resolving = this.#resolve();
    try {
      await Promise.race([resolving, failure]);
    } catch (error) {
      this.#parts.failed.abort(error);
      await this.#reader.close();
      // The next resolver must not read EVENTS while this one still writes to it.
      await resolving.catch(() => undefined);
      await this.#publisher.published.catch(() => undefined);
      throw error;
    } finally {
      void writing.stop();
      offReconnect();
    }
  }

  /** Resolves batch after batch, while earlier batches are published and visitors of other batches are written. */
  async #resolve(): Promise<void> {
    for (const queue of this.#queues.watching) {
      while (queue.isWatching && (await queue.readOne())) await this.#resolveWaiting();
    }
    this.#queues.start();
    while (await this.#hasNext()) await this.#resolveNext();
    await this.#settled();
  }

  async #resolveNext(): Promise<void> {
    const part = this.#waiting.next(this.#writes.accounts);
    this.#queues.noteRoom();
    const isApart = (accountId: string): boolean =>
      this.#writes.accountsApart.has(accountId) || this.#queues.has(accountId);
    const [{ resolved, left, apart }] = await Promise.all([
      resolvePart(this.#context, part, isApart),
      this.#publisher.published,
    ]);
    this.#publisher.publish(resolved);
    for (const account of apart) this.#writes.writeApart(account);
    if (left !== undefined) await this.#writes.write(left);
  }

  /** Resolves the waiting events without taking new ones. */
  async #resolveWaiting(): Promise<void> {
    while (this.#waiting.hasOther(nobody)) {
      await this.#resolveNext();
      await this.#settled();
    }
  }

  /** Reads while there is room, and waits until events can be resolved. Returns false when no more come. */
  async #hasNext(): Promise<boolean> {
    // While frames are suspected, they are resolved with no other work in progress.
    if (this.#reader.isWatching) await this.#settled();
    // Events of an account that sends few are then resolved before the rest of another account's flood.
    if (this.#intake.hasRoomForMore) await this.#intake.read();
    await this.#moveFloods();
    while (!this.#waiting.hasOther(this.#writes.accounts)) {
      const underWay = [...this.#writes.underWay];
      if (this.#intake.mayRead) underWay.push(this.#intake.read());
      if (this.#queues.isReading) underWay.push(this.#news.wait());
      if (underWay.length === 0) return false;
      await Promise.race(underWay);
      await this.#moveFloods();
    }
    return true;
  }

  /** While the partition exceeds its limits, moves accounts to queues in the log. */
  async #moveFloods(): Promise<void> {
    while (await this.#queues.moveFlood(this.#writes, this.#publisher)) this.#finish();
  }

  /** Call when the log has all results of a batch: finishes the frames whose last events were in this batch. */
  #published({ events, left }: ResolvedPart['part']): void {
    for (const event of events) this.#done(event);
    for (const { frame } of left) this.#unfinished.done(frame);
    this.#finish();
  }

  #done(event: WaitingEvent): void {
    if (this.#queues.wasReleased(event)) return;
    if (this.#unfinished.has(event.origin.frame)) this.#unfinished.done(event.origin.frame);
    else this.#queues.done(event);
  }

  /** Acknowledges the finished frames of the partition and of the queues. */
  #finish(): void {
    this.#reader.finish(this.#unfinished.takeFinished());
    this.#queues.finish();
  }

  /** Waits until no visitors are being written and no batch is being published. */
  async #settled(): Promise<void> {
    await this.#writes.settled();
    await this.#publisher.published;
  }
}

type ResolverParts = {
  readonly rebuilt: Rebuilt;
  readonly recorder: EventRecorder;
  readonly figureWriters: readonly FigureWriter[];
  /** Aborts the tries in progress. */
  readonly failed: AbortController;
  /** Begins a turn with frames of a source: the partition, or the queues of its accounts. */
  beginTurnOf(source: object, frames: FramesAtWork | undefined): void;
};

const nobody: ReadonlySet<string> = new Set();
