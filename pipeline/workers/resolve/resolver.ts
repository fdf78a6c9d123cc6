import { setTimeout as wait } from 'node:timers/promises';
import { LogConnectError } from '../../../shared/nats/connection/connection.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { createPredecessors } from '../../../shared/nats/messages/predecessors.ts';
import { ingestSubject, resolverConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Actor } from '../worker/define-worker.ts';
import type { RecorderContext, RecorderGauge } from '../recent/recorder-context.ts';
import type { Recorder } from '../recent/recorder.ts';
import { openFrameReader, runConsumerWorker } from '../worker/consumer-worker.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import { setAsideReason } from '../worker/suspicion.ts';
import type { FramesAtWork } from '../worker/suspicion.ts';
import { EventsLostError } from './checkpoint-writer.ts';
import { keepDeadLetters } from './dead-letters.ts';
import { createDeduplication } from './deduplication.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { every } from '../../../shared/runtime/every.ts';
import { publishFrames } from './publish-frames.ts';
import { readFrames } from './read-frames.ts';
import { rebuildDeduplication } from './rebuild-deduplication.ts';
import type { Rebuilt } from './rebuild-deduplication.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { resolvePart } from './resolve-part.ts';
import type { LeftPart, ResolvedPart } from './resolve-part.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { ResolverContext, ResolverGauge, ResolverStat } from './resolver-context.ts';
import { VisitorAllowance } from './visitor-allowance.ts';
import { createResolverCounts, createWriters } from './resolver-context.ts';

export type ResolverOptions = Omit<
  ResolverContext,
  'deduplication' | 'predecessors' | 'allowance' | 'counts' | 'signal' | 'eventWriters' | 'frameWriters'
> & {
  /** Opens what puts its events into the view of recent events. */
  openRecorder(
    resolver: Omit<RecorderContext, 'partitions' | 'pool' | 'settings'>,
  ): Promise<Pick<Recorder, 'note' | 'gauges' | 'close'>>;
};

type EventRecorder = Awaited<ReturnType<ResolverOptions['openRecorder']>>;

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
  // Each turn is about the frames that were taken last.
  let frames: FramesAtWork | undefined;
  const beginTurn = (taken: FramesAtWork | undefined = frames): void => {
    frames = taken;
    options.beginTurn(taken);
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
  // First nobody else is given frames any more, then what was written is read.
  const reader = await openFrameReader({
    connection,
    consumer,
    bufferedMax: bufferedFramesMax,
    bufferedBytesMax,
    logger,
    fields: { partition },
    beginTurn,
    suspicion,
    setAside: ({ data, seq }) => {
      const letter = { payload: data, reason: setAsideReason, seq, line: undefined };
      return keepDeadLetters(context, [letter]);
    },
    onLost: () => {
      counts.lost_frames += 1;
    },
  });
  const failed = new AbortController();
  const context: ResolverContext = {
    ...options,
    beginTurn,
    deduplication: createDeduplication(settings.deduplication),
    predecessors: createPredecessors(),
    allowance: new VisitorAllowance(settings.visitorShare),
    ...createWriters(),
    counts,
    signal: AbortSignal.any([reader.signal, failed.signal]),
  };
  const open = async (): Promise<readonly [Rebuilt, EventRecorder]> => [
    await rebuildDeduplication(context, consumer),
    await options.openRecorder(context),
  ];
  const [rebuilt, recorder] = await open().catch(async (error: unknown) => {
    await reader.close();
    throw error;
  });
  const resolver = new Resolver(context, reader, { rebuilt, recorder, failed });
  return runConsumerWorker(reader, {
    work: () => resolver.work(),
    // Whoever resolves the partition next has nothing of ours to read but this.
    async close() {
      await Promise.all([rebuilt.checkpoints.close(!reader.signal.aborted), recorder.close()]);
    },
    stats: () => ({ ...counts, ...resolver.gauges(), ...recorder.gauges() }),
  });
}

class Resolver {
  readonly #context: ResolverContext;
  readonly #reader: FrameReader;
  readonly #rebuilt: Rebuilt;
  /** Told of each frame that is in the log. */
  readonly #recorder: EventRecorder;
  /** Ends the tries of whatever is under way. */
  readonly #failed: AbortController;
  readonly #waiting: WaitingEvents;
  readonly #unfinished = new UnfinishedFrames<LogMessage>();
  /** Waiting for frames, or reading them. */
  #reading: Promise<void> | undefined;
  #isAtEnd = false;
  /** Accounts whose visitors are being written. */
  readonly #writing = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  #publishing: Promise<void> = Promise.resolve();
  /** Ends the work; what is under way may fail while nobody waits for it. */
  #fail: (error: unknown) => void = () => undefined;
  #tookAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    context: ResolverContext,
    reader: FrameReader,
    {
      rebuilt,
      recorder,
      failed,
    }: { readonly rebuilt: Rebuilt; readonly recorder: EventRecorder; readonly failed: AbortController },
  ) {
    this.#context = context;
    this.#reader = reader;
    this.#rebuilt = rebuilt;
    this.#recorder = recorder;
    this.#failed = failed;
    const { partEventsMax: eventsMax, accountEventsMax } = context.settings;
    this.#waiting = new WaitingEvents({ eventsMax, accountEventsMax });
  }

  gauges(): Omit<Record<ResolverGauge, number>, RecorderGauge> {
    const { deduplication, takePace } = this.#context;
    return {
      accounts_writing: this.#writing.size,
      take_distance_seconds: takePace.msAt(performance.now()) / 1_000,
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
    const { settings, connection } = this.#context;
    const { checkpoints } = this.#rebuilt;
    const writing = every(settings.checkpointEveryMs, () => checkpoints.write());
    let offReconnect = (): void => undefined;
    const failure = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
      offReconnect = connection.onReconnect(() => void this.#verify().catch(reject));
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

  /** What was written before may be gone after a reconnect, and deduplication would take its events for known. */
  #verify(): Promise<void> {
    const { connection, signal, logger, partition } = this.#context;
    const verify = async (): Promise<void> => {
      if (!connection.connected) throw new LogConnectError('reading the log: not connected');
      await this.#rebuilt.checkpoints.verify();
    };
    return retry(verify, {
      signal,
      isPassing: (error) => !(error instanceof EventsLostError),
      onRetry: (error, attempt) => {
        if (isWorthTelling(attempt)) logger.warn({ partition, err: error }, 'the log cannot be read, retrying');
      },
    });
  }

  /** While parts are published, and the visitors of others written, the next part is resolved. */
  async #resolve(): Promise<void> {
    while (await this.#hasNext()) {
      const part = this.#waiting.next(this.#writing);
      const [{ resolved, left }] = await Promise.all([resolvePart(this.#context, part), this.#publishing]);
      this.#publish(resolved);
      if (left !== undefined) await this.#write(left);
    }
    await this.#settled();
  }

  /** Reads what there is room for, and waits until there is something to resolve; false when nothing more comes. */
  async #hasNext(): Promise<boolean> {
    // With what is watched nothing else is under way.
    if (this.#reader.isWatching) await this.#settled();
    // Whoever sends little goes before what is left of a flood.
    if (this.#hasRoomForMore()) await this.#read();
    while (!this.#waiting.hasOther(this.#writing)) {
      const underWay = [...this.#writes];
      if (this.#mayRead()) underWay.push(this.#read());
      if (underWay.length === 0) return false;
      await Promise.race(underWay);
    }
    return true;
  }

  /** Whether there are frames that can be read beside what waits. */
  #hasRoomForMore(): boolean {
    const { isWatching, buffered } = this.#reader;
    return !isWatching && !this.#waiting.isEmpty && buffered > 0 && this.#mayRead();
  }

  #mayRead(): boolean {
    return !this.#isAtEnd && this.#waiting.bytes < this.#context.settings.waitingBytesMax;
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
      await this.#verify();
      await readFrames(this.#context, messages, { waiting: this.#waiting, unfinished: this.#unfinished });
    } while (this.#hasRoomForMore());
    this.#reading = undefined;
  }

  async #take(): Promise<readonly LogMessage[]> {
    const { counts, settings, takePace } = this.#context;
    const reader = this.#reader;
    const nowMs = performance.now();
    const earlyMs = this.#tookAtMs + takePace.msAt(nowMs) - nowMs;
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
  async #write({ accounts, resolve }: LeftPart): Promise<void> {
    const write = async (): Promise<void> => {
      this.#publish(await resolve());
      for (const accountId of accounts) this.#writing.delete(accountId);
      this.#writes.delete(writing);
    };
    for (const accountId of accounts) this.#writing.add(accountId);
    const writing = write();
    writing.catch(this.#fail);
    this.#writes.add(writing);
    while (this.#writes.size >= this.#context.settings.writesAtOnceMax) await Promise.race(this.#writes);
  }

  /** Parts are published one after the other. */
  #publish(resolved: ResolvedPart): void {
    const { part, deadLetters } = resolved;
    if (part.events.length + part.left.length + deadLetters.length === 0) return;
    this.#publishing = this.#publishing.then(() => this.#bringToLog(resolved));
    this.#publishing.catch(this.#fail);
  }

  /** Writes a part, and is done with the frames it was the last of. */
  async #bringToLog({ part, frames, deadLetters }: ResolvedPart): Promise<void> {
    this.#context.signal.throwIfAborted();
    // After a standstill another resolver may have written the same already.
    await this.#reader.confirm();
    await keepDeadLetters(this.#context, deadLetters);
    const { timeMs } = this.#context.deduplication;
    for (const frame of await publishFrames(this.#context, frames)) {
      const { seq, msgId, ids } = frame;
      this.#rebuilt.checkpoints.note({ seq, msgId, ids: Buffer.from(ids, 'base64'), timeMs });
      this.#recorder.note(frame);
    }
    await this.#verify();
    for (const { origin } of part.events) this.#unfinished.done(origin.frame);
    for (const { frame } of part.left) this.#unfinished.done(frame);
    this.#reader.finish(this.#unfinished.takeFinished());
  }

  /** Waits until nothing is under way. */
  async #settled(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#publishing;
  }
}
