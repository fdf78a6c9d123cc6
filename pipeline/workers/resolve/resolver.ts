import pLimit from 'p-limit';
import { setTimeout as wait } from 'node:timers/promises';
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
import { publishFrames } from './publish-frames.ts';
import { readFrames } from './read-frames.ts';
import { rebuildDeduplication } from './rebuild-deduplication.ts';
import type { Rebuilt } from './rebuild-deduplication.ts';
import { AccountQueues } from './account-queues.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { resolvePart } from './resolve-part.ts';
import type { AccountPart, LeftPart, ResolvedPart, Turn } from './resolve-part.ts';
import { createPlanFigures } from './plan-figures.ts';
import { IdentityFigures } from './identity-figures.ts';
import { startIdentityWriter } from './identity-writer.ts';
import type { FigureWriter } from './identity-writer.ts';
import { PersonalData } from './personal-data.ts';
import { startPersonalDataWriter } from './personal-data-writer.ts';
import { startViolationWriter } from './violation-writer.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { WaitingEvent } from './waiting-events.ts';
import type { ResolverContext, ResolverGauge, ResolverStat } from './resolver-context.ts';
import type { ResolverOptions } from './resolver-options.ts';
import { AccountCounts } from './account-counts.ts';
import { VisitorRateLimit } from './visitor-rate-limit.ts';
import { noReads } from './visitor-reads.ts';
import { createResolverCounts, createWriters } from './resolver-context.ts';

type EventRecorder = Awaited<ReturnType<ResolverOptions['openRecorder']>>;

/** Statements at a time of accounts that are slow or stuck: all other connections are for the others. */
const apartAtOnceMax = 2;

/** Frames that are pulled ahead of those that were taken. */
const bufferedFramesMax = 256;
const bufferedBytesMax = 8 * 1024 ** 2;

/**
 * Starts the resolver of one partition: takes accepted events from the ingest log, drops repeated and unwanted ones,
 * finds their visitors, and writes them to the logs of their accounts. A frame is acknowledged once everything it
 * became is in the log; after a crash the ids of what is there already keep it from being written twice.
 */
export async function startResolver(options: ResolverOptions): Promise<Actor<ResolverStat>> {
  const { partition, connection, settings, logger, suspicion } = options;
  const counts = createResolverCounts();
  // Each turn is about the frames that were taken last, of the partition and of each queue of an account.
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
  // First no other reader is given frames any more, then what was written is read.
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
    // Before EVENTS is read: what another resolver stores after this is refused to us, and read by the next start.
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

// Large: not divided yet into reading, resolving and publishing.
class Resolver {
  readonly #context: ResolverContext;
  readonly #reader: FrameReader;
  readonly #rebuilt: Rebuilt;
  /** Receives each frame that is in the log. */
  readonly #recorder: EventRecorder;
  readonly #figureWriters: readonly FigureWriter[];
  /** Ends the tries of whatever is under way. */
  readonly #failed: AbortController;
  readonly #waiting: WaitingEvents;
  readonly #unfinished = new UnfinishedFrames<LogMessage>();
  readonly #queues: AccountQueues;
  /** Something was read of a queue. */
  readonly #news = new Wakeup();
  /** Waiting for frames, or reading them. */
  #reading: Promise<void> | undefined;
  #isAtEnd = false;
  /** Accounts whose visitors are being written. */
  readonly #writing = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  readonly #leftParts = new Set<LeftPart>();
  /** Accounts at whose visitors the database failed last: their statements take turns beside those of the others. */
  readonly #apart = new Set<string>();
  readonly #writesApart = new Set<Promise<void>>();
  readonly #turnApart: Turn = pLimit(apartAtOnceMax);
  #publishing: Promise<void> = Promise.resolve();
  /** Ends the work; work under way may fail without a waiting caller. */
  #fail: (error: unknown) => void = () => undefined;
  #tookAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    context: ResolverContext,
    reader: FrameReader,
    { rebuilt, recorder, figureWriters, failed, beginTurnOf }: ResolverParts,
  ) {
    this.#context = context;
    this.#reader = reader;
    this.#rebuilt = rebuilt;
    this.#recorder = recorder;
    this.#figureWriters = figureWriters;
    this.#failed = failed;
    const { partEventsMax: eventsMax, accountEventsMax } = context.settings;
    this.#waiting = new WaitingEvents({ eventsMax, accountEventsMax });
    this.#queues = new AccountQueues({
      context,
      waiting: this.#waiting,
      unfinished: this.#unfinished,
      target: { beginTurn: (frames) => beginTurnOf(this.#queues, frames), onNews: () => this.#news.ring() },
      confirm: () => reader.confirm(),
      onFailure: (error) => this.#fail(error),
    });
  }

  open(): Promise<void> {
    return this.#queues.open();
  }

  /** The next resolver of the partition has nothing of ours to read but this. */
  async close(): Promise<void> {
    const { checkpoints } = this.#rebuilt;
    this.#context.writer.close();
    await Promise.all([
      checkpoints.close(!this.#reader.signal.aborted),
      this.#recorder.close(),
      ...this.#figureWriters.map((writer) => writer.close()),
      this.#queues.close(),
    ]);
  }

  queueStats(): ReturnType<AccountQueues['stats']> {
    return this.#queues.stats();
  }

  gauges(): Record<ResolverGauge, number> {
    const { deduplication } = this.#context;
    return {
      ...this.#recorder.gauges(),
      accounts_apart: this.#apart.size,
      accounts_queued: this.#queues.size,
      accounts_writing: this.#writing.size,
      checkpoint_ids_waiting: this.#rebuilt.checkpoints.idsWaiting,
      rebuild_seconds: this.#rebuilt.tookMs / 1_000,
      rebuild_frames: this.#rebuilt.frames,
      deduplication_ids: deduplication.size,
      deduplication_bytes: deduplication.bytes,
      deduplication_window_seconds: deduplication.effectiveWindowMs / 1_000,
    };
  }

  /** Resolves until there is nothing more to take, writing checkpoints meanwhile. Throws when EVENTS lost a frame of ours. */
  async work(): Promise<void> {
    const { settings, connection, writer } = this.#context;
    const { checkpoints } = this.#rebuilt;
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
      this.#failed.abort(error);
      await this.#reader.close();
      // The next resolver must not read EVENTS while this one still writes to it.
      await resolving.catch(() => undefined);
      await this.#publishing.catch(() => undefined);
      throw error;
    } finally {
      void writing.stop();
      offReconnect();
    }
  }

  /** While parts are published, and the visitors of others written, the next part is resolved. */
  async #resolve(): Promise<void> {
    for (const queue of this.#queues.watching) {
      while (queue.isWatching && (await queue.readOne())) await this.#resolveWaiting();
    }
    this.#queues.start();
    while (await this.#hasNext()) await this.#resolveNext();
    await this.#settled();
  }

  async #resolveNext(): Promise<void> {
    const part = this.#waiting.next(this.#writing);
    this.#queues.noteRoom();
    const isApart = (accountId: string): boolean => this.#apart.has(accountId) || this.#queues.has(accountId);
    const [{ resolved, left, apart }] = await Promise.all([
      resolvePart(this.#context, part, isApart),
      this.#publishing,
    ]);
    this.#publish(resolved);
    for (const account of apart) this.#writeApart(account);
    if (left !== undefined) await this.#write(left);
  }

  /** Resolves all that waits, and nothing else. */
  async #resolveWaiting(): Promise<void> {
    while (this.#waiting.hasOther(nobody)) {
      await this.#resolveNext();
      await this.#settled();
    }
  }

  /** Reads what there is room for, and waits until there is something to resolve; false when nothing more comes. */
  async #hasNext(): Promise<boolean> {
    // With what is watched nothing else is under way.
    if (this.#reader.isWatching) await this.#settled();
    // An account that sends little goes before the rest of a flood.
    if (this.#hasRoomForMore()) await this.#read();
    await this.#moveFloods();
    while (!this.#waiting.hasOther(this.#writing)) {
      const underWay = [...this.#writes, ...this.#writesApart];
      if (this.#mayRead()) underWay.push(this.#read());
      if (this.#queues.isReading) underWay.push(this.#news.wait());
      if (underWay.length === 0) return false;
      await Promise.race(underWay);
      await this.#moveFloods();
    }
    return true;
  }

  /** Past the bounds of the partition, who has most of it has the rest of its events wait in the log. */
  async #moveFloods(): Promise<void> {
    for (;;) {
      const accountId = this.#queues.mostOver(() => this.#eventsLeft());
      if (accountId === undefined) return;
      // What is resolved of it stands in EVENTS before anything of it is copied, or it could come behind that after a crash.
      await this.#publishing;
      await this.#queues.move(accountId, this.#eventsLeft());
      this.#finish();
    }
  }

  /** Events whose visitors are being written. */
  #eventsLeft(): readonly WaitingEvent[] {
    return [...this.#leftParts].flatMap(({ events }) => events);
  }

  /** Whether there are frames that can be read beside the waiting events. */
  #hasRoomForMore(): boolean {
    const { isWatching, buffered } = this.#reader;
    return !isWatching && !this.#waiting.isEmpty && buffered > 0 && this.#mayRead();
  }

  #mayRead(): boolean {
    return !this.#isAtEnd && this.#queues.bytesBeside < this.#context.settings.waitingBytesMax;
  }

  /** Takes frames and cuts them into events that wait. One that waits for frames is not repeated. */
  #read(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#takeAndCut();
      this.#reading.catch(this.#fail);
    }
    return this.#reading;
  }

  async #takeAndCut(): Promise<void> {
    // Cutting frames into events costs little beside all that follows, so all there is room for are.
    do {
      const messages = await this.#take();
      this.#isAtEnd = messages.length === 0;
      if (this.#isAtEnd) void this.#queues.stop();
      await this.#context.writer.verify();
      const waiting: Pick<WaitingEvents, 'add' | 'addLetters'> = {
        add: (lines) => void (this.#queues.take(lines) || this.#waiting.add(lines)),
        addLetters: (letters) => this.#waiting.addLetters(letters),
      };
      await readFrames(this.#context, messages, { waiting, unfinished: this.#unfinished });
      if (await this.#queues.copied()) this.#finish();
    } while (this.#hasRoomForMore());
    this.#reading = undefined;
  }

  async #take(): Promise<readonly LogMessage[]> {
    const { counts, settings } = this.#context;
    const reader = this.#reader;
    const earlyMs = this.#tookAtMs + settings.takeEveryMs - performance.now();
    // What comes meanwhile shares a visitor query, a frame and a write to disk with what is here.
    if (earlyMs >= 1 && this.#waiting.isEmpty && reader.buffered < settings.framesPerTake) await wait(earlyMs);
    const messages = await reader.take(settings.framesPerTake);
    this.#tookAtMs = performance.now();
    counts.frames += messages.length;
    for (const message of messages) {
      if (message.timesHandedOut > 1 || message.seq <= reader.handedOutSeq) counts.redelivered_frames += 1;
    }
    return messages;
  }

  /**
   * Has the visitors of some accounts written beside what is resolved meanwhile. No later part has anything of these accounts
   * before that is done, so the events of each stay in order.
   */
  async #write(left: LeftPart): Promise<void> {
    for (const accountId of left.accounts) this.#writing.add(accountId);
    this.#track(this.#writes, () => this.#writeTogether(left));
    while (this.#writes.size >= this.#context.settings.writesAtOnceMax) await Promise.race(this.#writes);
  }

  async #writeTogether(left: LeftPart): Promise<void> {
    this.#leftParts.add(left);
    const resolved = await left.resolve();
    this.#leftParts.delete(left);
    if (resolved !== undefined) return this.#written(left, resolved);
    const parts = left.byAccount();
    // Each by itself, at once: so it is found whose fault it is.
    for (const part of parts) {
      if (parts.length === 1) {
        this.#apart.add(part.accountId);
        this.#writeApart(part);
      } else this.#track(this.#writes, () => this.#writeTogether(part));
    }
  }

  /** Others neither wait for it nor share a transaction with it. */
  #writeApart(part: AccountPart): void {
    this.#writing.add(part.accountId);
    this.#track(this.#writesApart, async () => {
      this.#leftParts.add(part);
      const { resolved, isWell } = await part.resolveApart(this.#turnApart);
      this.#leftParts.delete(part);
      if (isWell) this.#apart.delete(part.accountId);
      else this.#apart.add(part.accountId);
      this.#written(part, resolved);
    });
  }

  #written({ accounts }: LeftPart, resolved: ResolvedPart): void {
    this.#publish(resolved);
    for (const accountId of accounts) this.#writing.delete(accountId);
  }

  #track(writes: Set<Promise<void>>, write: () => Promise<void>): void {
    const writing: Promise<void> = write().then(() => void writes.delete(writing));
    writing.catch(this.#fail);
    writes.add(writing);
  }

  /** Parts are published one after the other. */
  #publish(resolved: ResolvedPart): void {
    const { part, deadLetters } = resolved;
    if (part.events.length + part.left.length + deadLetters.length === 0) return;
    this.#publishing = this.#publishing.then(() => this.#bringToLog(resolved));
    this.#publishing.catch(this.#fail);
  }

  /** Writes a part, and is done with the frames it was the last of. */
  async #bringToLog({ part, frames, deadLetters, consents }: ResolvedPart): Promise<void> {
    this.#context.signal.throwIfAborted();
    await keepDeadLetters(this.#context, deadLetters);
    // A withdrawal holds before the event that says it is acknowledged.
    await this.#context.withdrawals.announce(consents, this.#context.signal);
    const { timeMs } = this.#context.deduplication;
    for (const frame of await publishFrames(this.#context, frames)) {
      const { seq, msgId, ids } = frame;
      this.#rebuilt.checkpoints.note({ seq, msgId, ids: Buffer.from(ids, 'base64'), timeMs });
      this.#recorder.note(frame);
    }
    await this.#context.writer.verify();
    for (const event of part.events) this.#done(event);
    for (const { frame } of part.left) this.#unfinished.done(frame);
    this.#finish();
  }

  #done(event: WaitingEvent): void {
    if (this.#queues.wasReleased(event)) return;
    if (this.#unfinished.has(event.origin.frame)) this.#unfinished.done(event.origin.frame);
    else this.#queues.done(event);
  }

  /** Acknowledges the frames of which all is where it belongs. */
  #finish(): void {
    this.#reader.finish(this.#unfinished.takeFinished());
    this.#queues.finish();
  }

  /** Waits until nothing is under way. */
  async #settled(): Promise<void> {
    while (this.#writes.size + this.#writesApart.size > 0) {
      await Promise.all([...this.#writes, ...this.#writesApart]);
    }
    await this.#publishing;
  }
}

type ResolverParts = {
  readonly rebuilt: Rebuilt;
  readonly recorder: EventRecorder;
  readonly figureWriters: readonly FigureWriter[];
  readonly failed: AbortController;
  /** A turn of the actor is about frames of a source. */
  beginTurnOf(source: object, frames: FramesAtWork | undefined): void;
};

const nobody: ReadonlySet<string> = new Set();
