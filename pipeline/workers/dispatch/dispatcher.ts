import { setTimeout as wait } from 'node:timers/promises';
import type { OfferedDestination } from '../../../shared/destinations/common-settings.ts';
import type { EventHead } from '../../../shared/contracts/events/resolved-event.ts';
import { parkedTier } from '../../../shared/contracts/events/retry-record.ts';
import { eventsOfAccount } from '../../../shared/contracts/subjects.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { ConsentNow } from '../../../shared/routing/consent/compile-consent.ts';
import type { AccountShare } from './sources/account-shares.ts';
import type { Actor } from '../worker/define-worker.ts';
import { isSetAside, isWatched } from '../worker/suspicion.ts';
import { Wakeup } from '../worker/wakeup.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';
import { decideAttempt, isDecided } from './admission/decide-attempt.ts';
import type { AttemptDecision, Exclusion } from './admission/decide-attempt.ts';
import { openDispatcherParts } from './dispatcher-parts.ts';
import type { DispatcherParts } from './dispatcher-parts.ts';
import { createDispatcherCounts } from './dispatcher-stats.ts';
import type { DispatcherCounts, DispatcherGauge } from './dispatcher-stats.ts';
import { DispatchItem } from './sources/dispatch-item.ts';
import { seqOf } from './sources/frames-in-flight.ts';
import type { FrameInFlight } from './sources/frames-in-flight.ts';
import type { UnreadableLine, UntriedRecord } from './sources/inbox.ts';
import { aloneWithinMs } from './sources/isolation.ts';
import { eventOfRecord } from './events/event-of-visitor.ts';
import type { ReleasedEvent, VisitorOrder } from './waiting/visitor-order.ts';
import type { HeadPlace } from './waiting/waiting-visitors.ts';
import { attemptedBefore } from './events/attempted.ts';
import type { LoadedEvent } from './events/referenced-events.ts';
import type { LoadedRecord, RetryFrame } from './sources/retry-reader.ts';
import type { Delivered } from './sending/deliver.ts';
import type { Batch } from './sending/sending.ts';
import type { Turn } from './sending/visitor-lanes.ts';

export type DispatcherActor = Actor & {
  /** A new version may have changed the target. */
  reconfigured(): void;
  /** Somebody else put something into a tier of the retry log: a replay. */
  retriesStored(tier: number): void;
  /** Skips what the account's log has up to a sequence, and records it as missed. Never rejects. */
  passOver(upToSeq: number): Promise<void>;
};

/**
 * Starts the dispatcher of one destination. What its setting `order` says holds for a dispatcher from beginning to end:
 * where a version changes it the dispatcher ends as if it were stopped, and the next one begins with what the log has.
 */
export async function startDispatcher(options: DispatcherOptions): Promise<DispatcherActor> {
  const counts = createDispatcherCounts();
  let dispatcher = await Dispatcher.open(options, counts);
  let isStopping = false;
  const follow = async (): Promise<void> => {
    for (;;) {
      const end = await dispatcher.done;
      if (end === 'stopped' || isStopping) return;
      dispatcher = await Dispatcher.open(options, counts);
      if (isStopping) await dispatcher.stop(0);
    }
  };
  const done = follow();
  return {
    done,
    async stop(deadlineMs) {
      isStopping = true;
      await dispatcher.stop(deadlineMs);
      await done.catch(() => undefined);
    },
    stats: () => Object.assign(counts, dispatcher.gauges()),
    reconfigured: () => dispatcher.reconfigured(),
    retriesStored: (tier) => dispatcher.retriesStored(tier),
    passOver: (upToSeq) => dispatcher.passOver(upToSeq),
  };
}

/** A request that has ended, and what became of its events. */
type EndedBatch = { readonly batch: Batch; readonly delivered: Delivered };

/** How a dispatcher ends, unless it fails. */
export type DispatcherEnd = 'stopped' | 'order changed';

/** What a dispatcher does now. It goes from one to the next, and never back. */
type DispatcherState =
  | { readonly kind: 'running' }
  /** Takes nothing, sends what it has begun, and waits for answers. */
  | { readonly kind: 'draining' }
  /** Sends nothing, and stores what is settled. */
  | { readonly kind: 'closing' }
  | { readonly kind: 'ended'; readonly end: DispatcherEnd | 'failed' };

const framesPerTake = 16;
/** Frames that wait to be read while no more are asked for. */
const framesUnopenedMax = 16;
/** Parked events of one visitor that are sent one after the other before the log is asked for more. */
const releasedTogetherMin = 16;
const releasedTogetherMax = 256;
/** Fresh events that may be parked in search of one a destination can be tried out with. */
const parkedForProbeMax = 256;
/** What a frame costs beside its events, in units of work: it is received, kept account of and acknowledged. */
const frameUnits = 4_000;
/** What a request costs beside its events, in units of work. */
const requestUnits = 4_000;
/** What an event costs that goes to the retry log or the dead letters, beside its bytes. One that was delivered costs little. */
const movedUnits = 4_000;
/** What an event costs that is decided again, beside the work of its rules. */
const decidedAgainUnits = 100;
/** Parked events that the log is given in one turn: each takes some 40 µs, and a failure may park thousands at once. */
const parkedATurn = 32;
/** How often to look for what nothing tells of: room in the retry log, the end of what is drained. */
const lookEveryMs = 100;
/** So many sequences of the log are skipped by reading what they hold, so that the count is exact. */
const readMissedMax = 1_000;
/** How often to look whether a frame that is watched is done, in ms. */
const watchEveryMs = 20;
/** How long what is under way may take before a new `order` applies, in ms. */
const orderChangeMs = 15_000;
/** How long the end may wait for the log to store the last counts, in ms. */
const storingMs = 1_000;

/**
 * Takes the resolved events of the destination's account, decides which of them the destination gets, sends them in
 * order of each visitor, and brings what fails to the retry log or the dead letters. A frame is acknowledged once each
 * of its events is where it belongs and health has counted it.
 *
 * One loop does it all. Frames come in from the account's log, from the retry log as they fall due, and from the parked
 * events of visitors whose turn has come; the loop has the inbox open them as far as events are wanted, puts these into
 * their lanes, sends batches, and gives what became of each to the outbox. Whatever happens wakes it. It does not run on
 * `runConsumerWorker`, which finishes what it took in one go: here frames of three sources are in flight at once, each is
 * finished when the last of its events is where it belongs, and a stop waits for answers and not for frames.
 */
export class Dispatcher {
  /** Rejects when an error ended it. */
  readonly done: Promise<DispatcherEnd>;
  readonly #options: DispatcherOptions;
  readonly #counts: DispatcherCounts;
  readonly #parts: DispatcherParts;
  readonly #wakeup = new Wakeup();
  readonly #share: AccountShare;
  /** Rings when all that is drained is settled. */
  readonly #drained = new Wakeup();
  #state: DispatcherState = { kind: 'running' };
  #closing: Promise<void> | undefined;
  #resolve: (end: DispatcherEnd) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** Writes to the log that events wait for. */
  #writes = 0;
  #isConfirming = false;
  /** Whether it is woken at the end of this round of the event loop. */
  #isRinging = false;
  /** Requests that have ended, and what became of them: very many may end at once, such as those to names that hang. */
  readonly #ended: EndedBatch[] = [];
  /** Whether frames of the account's log are suspected of what befell an earlier dispatcher. */
  #isWatching: boolean;
  /** Of the frames of the account's log that were taken; 0 before the first. */
  #newestSeq = 0;
  /** Frames up to here are missed, whether or not the destination could be sent to; 0 without any. */
  #missUpTo = 0;
  /** Whether some of them may have been begun, and be held. */
  #mayHoldMissed = false;
  /** Events parked when the breaker opened last. */
  #parkedAtProbe = 0;
  #isAccessRefused = false;
  /** What was sent with last: other settings may hold another key. */
  #preparedLast: OfferedDestination | undefined;
  /** Why the destination cannot be sent to. */
  #problem: string | undefined;

  private constructor(options: DispatcherOptions, counts: DispatcherCounts, parts: DispatcherParts) {
    this.#options = options;
    this.#counts = counts;
    this.#parts = parts;
    this.#share = options.shares.join(options.accountId, () => this.#wakeup.ring());
    this.#isWatching = options.suspicion.log.watched !== undefined;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Takes the destination over from whoever dispatched to it before, and goes on from there. */
  static async open(options: DispatcherOptions, counts: DispatcherCounts): Promise<Dispatcher> {
    const dispatcher = new Dispatcher(options, counts, await openDispatcherParts(options, counts));
    const { visitorOrder, skipUpTo } = dispatcher.#parts;
    void dispatcher.passOver(skipUpTo);
    const fail = (error: unknown): void => dispatcher.#fail(error);
    void dispatcher.#parts.taken.then(fail);
    dispatcher.#run().catch(fail);
    dispatcher.#takeFrames().catch(fail);
    dispatcher.#takeRetries().catch(fail);
    if (visitorOrder !== undefined) dispatcher.#takeReleased(visitorOrder).catch(fail);
    return dispatcher;
  }

  gauges(): Record<DispatcherGauge, number> {
    const { inbox, sending, visitorOrder, health, retryShare } = this.#parts;
    const { gate } = sending;
    return {
      undelivered_age_seconds: inbox.ageMs(Date.now()) / 1_000,
      events_held: sending.size,
      requests_in_flight: gate.inFlight,
      concurrency: gate.concurrency,
      breaker_open: gate.isBreakerClosed ? 0 : 1,
      access_refused: gate.isAccessRefused ? 1 : 0,
      breaker_probing: gate.isProbing ? 1 : 0,
      visitors_waiting: visitorOrder?.visitorsWaiting ?? 0,
      events_parked: visitorOrder?.eventsParked ?? 0,
      order_paused: visitorOrder?.isPaused === true ? 1 : 0,
      erasures_unknown: this.#options.erasures.isCurrent ? 0 : 1,
      misconfigured: this.#problem === undefined ? 0 : 1,
      retry_share_full: retryShare.isPaused ? 1 : 0,
      retry_bytes: retryShare.bytes,
      health_behind: health.isBehind ? 1 : 0,
    };
  }

  reconfigured(): void {
    this.#wakeup.ring();
  }

  retriesStored(tier: number): void {
    this.#parts.retries.stored(tier);
    if (tier === parkedTier) this.#parts.visitorOrder?.takeUpParked();
  }

  /** Called again for what is skipped already it changes nothing. */
  async passOver(upToSeq: number): Promise<void> {
    const { pullConsumer, inbox } = this.#parts;
    const { upTo } = pullConsumer.finished;
    if (upToSeq <= this.#missUpTo || upToSeq <= upTo || this.#state.kind !== 'running') return;
    this.#missUpTo = upToSeq;
    this.#mayHoldMissed = true;
    this.#wakeup.ring();
    if (upToSeq - upTo <= readMissedMax) return;
    // A thousand destinations that fetched a long backlog, each of them all of it, would take the log from everybody.
    try {
      const fromMs = await this.#storedAfter(upTo);
      inbox.missFrames(await pullConsumer.skipTo(upToSeq), { fromMs, toMs: Date.now() });
    } catch (error) {
      this.#options.logger.warn(
        { destinationId: this.#options.destinationId, err: error },
        'dispatcher: the log failed',
      );
    }
  }

  /** When the oldest event behind a sequence was stored, in ms since the epoch; now where there is none. */
  async #storedAfter(seq: number): Promise<number> {
    const { connection, accountId } = this.#options;
    const oldest = await readNext(connection, streams.events, eventsOfAccount(accountId), seq + 1);
    return oldest?.storedAtMs ?? Date.now();
  }

  /**
   * Sends nothing more of the account's log, and waits at most `deadlineMs` for answers to what is in flight: with all of
   * them the next dispatcher sends nothing twice. Frames of the retry log that are begun are finished, as long as it is
   * certain that nobody else has the destination. Called again it waits no longer.
   */
  stop(deadlineMs: number): Promise<void> {
    return this.#end('stopped', deadlineMs);
  }

  /** Whether what comes out of the retry log can be sent: the destination may have been shut while it waited here. */
  get #takesRetries(): boolean {
    return this.#state.kind === 'running' && this.#parts.retries.isOpen;
  }

  get #isAtWork(): boolean {
    return this.#state.kind === 'running' || this.#state.kind === 'draining';
  }

  async #run(): Promise<void> {
    while (this.#isAtWork) {
      this.#beginTurn();
      const target = this.#options.target();
      for (const tier of this.#parts.retryWriter.takeTiersStored()) this.#parts.retries.stored(tier);
      this.#settleEnded();
      this.#noteSettings(target);
      this.#readEvents(target);
      this.#regulate(target);
      if (this.#sendBatches(target)) this.#regulate(target);
      this.#storeParked();
      if (this.#isDrained()) this.#drained.ring();
      await this.#wakeup.wait(this.#lookAgainInMs());
    }
  }

  #lookAgainInMs(): number {
    const { sending, visitorOrder, retryShare } = this.#parts;
    const nextMs = Math.max(1, sending.nextAtMs - performance.now() + 1);
    const isPaused = visitorOrder?.isPaused === true || retryShare.isPaused;
    const isLooking = this.#state.kind === 'draining' || isPaused || !this.#options.erasures.isCurrent;
    return isLooking ? Math.min(nextMs, lookEveryMs) : nextMs;
  }

  // What comes in.

  async #takeFrames(): Promise<void> {
    const { pullConsumer, isolation } = this.#parts;
    for (;;) {
      await this.#untilWatchedIsDone();
      if (!(await pullConsumer.untilAny()) || this.#state.kind !== 'running') return;
      await isolation.beside(() => this.#takeMessages());
    }
  }

  /** Has what is here in flight at once: older frames that are handed back while newer ones are in hand would go behind these. */
  #takeMessages(): void {
    if (this.#state.kind !== 'running') return;
    const messages = this.#parts.pullConsumer.takeNow(this.#isWatching ? 1 : framesPerTake);
    if (messages.length === 0) return;
    this.#newestSeq = Math.max(this.#newestSeq, ...messages.map(({ seq }) => seq));
    this.#isWatching &&= this.#newestSeq <= (this.#options.suspicion.log.watched?.to ?? 0);
    for (const message of messages) this.#takeFrame(message);
    this.#share.spend(messages.length * frameUnits);
    this.#beginTurn();
    if (messages.some(({ seq }) => seq > this.#missUpTo)) this.#caughtUp();
    this.#wakeup.ring();
  }

  /** A turn about what is in flight. */
  #beginTurn(): void {
    this.#options.beginTurn(this.#parts.inbox.atWork);
  }

  /** Frames that are watched are worked on one at a time, and by themselves if retries leave them a moment for it. */
  async #untilWatchedIsDone(): Promise<void> {
    const { inbox } = this.#parts;
    const sinceMs = performance.now();
    const isDone = (): boolean => inbox.isEmpty || (!inbox.hasLogFrames && performance.now() - sinceMs > aloneWithinMs);
    while (this.#isWatching && !isDone() && this.#state.kind === 'running') await wait(watchEveryMs);
  }

  #takeFrame(message: LogMessage): void {
    const { frameShare, inbox, outbox } = this.#parts;
    frameShare.note(message.data.length);
    if (isSetAside(this.#options.suspicion.log, message.seq)) {
      this.#whenStored(outbox.deadLetterSetAside(message), () => inbox.pass(message));
      return;
    }
    const target = this.#options.target();
    // A destination that is switched off moves on with its account and is sent nothing, then or later: what it missed
    // can be replayed by command.
    if (target?.destination.isEnabled === false) inbox.pass(message);
    else if (message.seq <= this.#missUpTo) inbox.miss(message);
    else if (target?.prepared === undefined) inbox.refuse(message);
    else inbox.take(message);
  }

  async #takeRetries(): Promise<void> {
    for await (const frame of this.#parts.retries.due()) {
      await this.#takeSuspect(frame.seq, () => this.#takeRetryFrame(frame));
    }
  }

  /** Takes a frame of the retry log, or an event of it; by itself where it is suspected. */
  async #takeSuspect(seq: number, take: () => FrameInFlight | undefined): Promise<void> {
    const { isolation } = this.#parts;
    const takeNow = (): FrameInFlight | undefined => {
      const taken = take();
      this.#wakeup.ring();
      return taken;
    };
    if (!isWatched(this.#options.suspicion.retry, seq)) {
      await isolation.beside(takeNow);
      return;
    }
    // What waits until the retry log has room would wait for this one, and this one for it.
    if (this.#isRetryLogFull()) this.#handBackUnstarted();
    await isolation.alone(takeNow);
  }

  /** Returns what is in flight of it. */
  #takeRetryFrame(frame: RetryFrame): FrameInFlight | undefined {
    const { inbox, outbox, retries } = this.#parts;
    this.#share.spend(frameUnits);
    const { content, isReplay, seq } = frame;
    const target = this.#options.target();
    if (content.kind === 'unreadable') {
      this.#whenStored(outbox.deadLetterFrame(content.data, content.problem), () => retries.finished(frame));
    } else if (isSetAside(this.#options.suspicion.retry, seq)) {
      this.#setAsideRetries(frame, content.records);
    } else if (target?.plan === undefined || !this.#takesRetries) {
      retries.abandoned(frame);
    } else {
      const taken = inbox.takeRetries(frame, content.records);
      this.#beginTurn();
      for (const one of taken) {
        if (!(one instanceof DispatchItem)) {
          this.#settleUntried(one);
          continue;
        }
        if (!isReplay) this.#noteReturned(one, { tier: frame.tier, seq });
        this.#admit(one, target, isReplay);
      }
      return taken[0]?.frame;
    }
    return undefined;
  }

  /** The next event of its visitor may go. */
  #settleUntried({ record, loaded, ...line }: UntriedRecord): void {
    const { inbox, visitorOrder } = this.#parts;
    this.#whenStored(this.#keepUntried(loaded, record.receivedAt), () => {
      visitorOrder?.done(eventOfRecord(record), undefined);
      inbox.settle(line);
    });
  }

  /** Settles once an event that cannot be tried is a dead letter, or recorded as skipped. */
  #keepUntried(loaded: Exclude<LoadedEvent, { readonly kind: 'event' }>, receivedAtMs: number): Promise<void> {
    const { outbox } = this.#parts;
    if (loaded.kind === 'unreadable') return outbox.deadLetterLine(loaded.line);
    outbox.skipGone(receivedAtMs);
    return Promise.resolve();
  }

  /** What waits behind these events goes on; a replay has nothing behind it. */
  #setAsideRetries(frame: RetryFrame, records: readonly LoadedRecord[]): void {
    const { outbox, retries, visitorOrder } = this.#parts;
    const kept = records.map(({ record, loaded }, index) => {
      if (loaded.kind !== 'event') return this.#keepUntried(loaded, record.receivedAt);
      const { lastAttemptAt, request, origin } = record;
      const about = { lastAttemptAt, ...(request === undefined ? {} : { request }), origin };
      return outbox.setAside(loaded.event, {
        readFrom: { seq: frame.seq, index },
        attempted: attemptedBefore(record),
        ...about,
      });
    });
    this.#whenStored(Promise.all(kept), () => {
      for (const { record } of frame.isReplay ? [] : records) visitorOrder?.done(eventOfRecord(record), undefined);
      retries.finished(frame);
    });
  }

  async #takeReleased(order: VisitorOrder): Promise<void> {
    const { suspicion } = this.#options;
    const seqOfEvent = ({ follower }: ReleasedEvent): number => follower.place?.seq ?? 0;
    for await (const events of order.released()) {
      const [first] = events;
      if (first === undefined) continue;
      // Those behind one that is worked on by itself wait until it is known what became of it.
      const isApart = events.some((event) => isWatched(suspicion.retry, seqOfEvent(event)));
      const together = isApart ? [first] : events;
      for (const { follower } of events.slice(together.length)) order.giveBack(follower);
      await this.#takeSuspect(seqOfEvent(first), () => {
        const [taken] = together.map((event) => this.#takeReleasedEvent(order, event));
        return taken;
      });
    }
  }

  /** Returns what is in flight of it. */
  #takeReleasedEvent(order: VisitorOrder, event: ReleasedEvent): FrameInFlight | undefined {
    const { inbox, outbox } = this.#parts;
    const { loaded, follower } = event;
    const target = this.#options.target();
    if (loaded.kind !== 'event') {
      this.#whenStored(this.#keepUntried(loaded, follower.attempted.firstAttemptAtMs ?? Date.now()), () =>
        order.drop(follower),
      );
    } else if (isSetAside(this.#options.suspicion.retry, follower.place?.seq ?? 0, follower.place?.index)) {
      const { place: readFrom, attempted, origin } = follower;
      this.#whenStored(outbox.setAside(loaded.event, { readFrom, attempted, origin }), () => order.drop(follower));
    } else if (target?.plan === undefined || !this.#takesRetries || !order.mayGo(follower)) {
      order.giveBack(follower);
    } else {
      const item = inbox.takeReleased(event, loaded.event);
      this.#beginTurn();
      this.#admit(item, target, false);
      return item.frame;
    }
    return undefined;
  }

  /** Reads fresh events as long as there are too few. What is read earlier only takes memory. */
  #readEvents(target: DispatchTarget | undefined): void {
    // Rules and settings that cannot be read decide nothing.
    if (target === undefined || (target.prepared === undefined && target.destination.isEnabled)) return;
    while (this.#wantsEvents(target)) {
      if (!this.#share.mayWork()) {
        this.#share.wait();
        return;
      }
      const read = this.#parts.inbox.next();
      if (read === undefined) return;
      if (read instanceof DispatchItem) this.#admitFresh(read, target);
      else this.#deadLetterLine(read);
    }
  }

  #wantsEvents({ prepared }: DispatchTarget): boolean {
    const { sending, outbox } = this.#parts;
    const { eventsHeldMax, bytesHeldMax } = this.#options.settings;
    if (outbox.parking >= parkedATurn) return false;
    if (sending.size >= eventsHeldMax || sending.bytes >= bytesHeldMax) return false;
    // What is in memory may all come to the retry log.
    if (this.#isRetryLogFull(sending.bytes + outbox.parkingBytes)) return false;
    // While it is tried out, a search for an event of a visitor that does not wait would park all others.
    const isSearching = !sending.gate.isBreakerClosed;
    if (isSearching && this.#counts.parked - this.#parkedAtProbe > parkedForProbeMax) return false;
    return prepared === undefined || sending.wantsFresh(prepared);
  }

  /** Whether so much waits for another attempt that no fresh events are taken. */
  #isRetryLogFull(heldBytes = 0): boolean {
    const { visitorOrder, retryShare } = this.#parts;
    return visitorOrder?.isFull() === true || retryShare.isFull(heldBytes);
  }

  #admitFresh(item: DispatchItem, target: DispatchTarget): void {
    try {
      this.#admit(item, target, true);
    } catch (error) {
      if (item.isReadable) throw error;
      this.#deadLetterLine(item);
    }
  }

  /** Takes an event that the live version sends into its lane. `isLast`: whatever waits of its visitor goes before it. */
  #admit(item: DispatchItem, target: DispatchTarget, isLast: boolean): void {
    this.#counts.events += 1;
    const decision = this.#decide(item, target);
    if (decision.kind !== 'send') this.#exclude(item, decision);
    else if (!isLast || this.#mayGoNext(item)) this.#parts.sending.add(item);
  }

  readonly #isErased = (head: EventHead): boolean => this.#options.erasures.isErased(this.#options.accountId, head);
  readonly #consent: ConsentNow = {
    lastWords: (head) => this.#options.erasures.lastWords(this.#options.accountId, head),
    onUnreadable: () => {
      this.#counts.consent_unreadable += 1;
    },
    regionOf: (address) => this.#options.regions.regionOf(address),
  };

  #decide(item: DispatchItem, target: DispatchTarget): AttemptDecision {
    return decideAttempt(item, target, {
      eventWorkMax: this.#options.settings.eventWorkMax,
      spend: (units) => this.#share.spend(units),
      isErased: this.#isErased,
      consent: this.#consent,
    });
  }

  /** Decides again about an event in the lanes whose decision does not hold any more, before a request is made of it. */
  #turnOf(item: DispatchItem, target: DispatchTarget): Turn {
    if (isDecided(item, target, { isErased: this.#isErased, consent: this.#consent })) return 'take';
    if (!this.#share.mayWork()) {
      this.#share.wait();
      return 'stay';
    }
    this.#share.spend(decidedAgainUnits);
    try {
      const decision = this.#decide(item, target);
      if (decision.kind === 'send') return 'take';
      this.#exclude(item, decision);
    } catch (error) {
      if (item.isReadable) throw error;
      this.#deadLetterLine(item);
    }
    // It leaves room for others.
    this.#ringOnceARound();
    return 'leave';
  }

  /** Settles an event that is not sent. */
  #exclude(item: DispatchItem, decision: Exclusion): void {
    const { inbox, outbox, visitorOrder } = this.#parts;
    switch (decision.kind) {
      case 'over-budget':
        this.#whenStored(outbox.deadLetterOverBudget(item, decision.reason), () => inbox.settle(item));
        return;
      case 'erased':
      case 'stop':
      case 'global-stop':
      case 'no-consent':
        outbox.stopped(item, decision);
        item.frame.isStarted = true;
        break;
      case 'skip':
        this.#counts.skipped += 1;
    }
    if (item.lane === 'retried') visitorOrder?.done(item, item.follower);
    inbox.skip(item);
  }

  /** Whether nothing of the event's visitor waits. Otherwise the event is taken care of. */
  #mayGoNext(item: DispatchItem): boolean {
    const { inbox, visitorOrder } = this.#parts;
    const place = visitorOrder?.placeOf(item) ?? 'next';
    if (visitorOrder === undefined || place === 'next') return true;
    item.frame.isStarted = true;
    if (place === 'known') {
      // It came a second time. Its frame is done with it once the log surely has the first.
      this.#counts.already_waiting += 1;
      this.#whenStored(visitorOrder.stored(item), () => inbox.settle(item));
    } else {
      this.#putBehind(item, visitorOrder);
    }
    return false;
  }

  /** An event that comes back from its wait and was not known to wait: what is behind it waits from now on. */
  #noteReturned(returned: DispatchItem, place: HeadPlace): void {
    const { sending, visitorOrder } = this.#parts;
    if (visitorOrder?.returned(returned, place) !== true) return;
    const isBehind = (item: DispatchItem): boolean =>
      item.visitorId === returned.visitorId && !visitorOrder.isHead(item);
    for (const item of sending.remove(isBehind)) this.#putBehind(item, visitorOrder);
  }

  #deadLetterLine(read: UnreadableLine | DispatchItem): void {
    const { inbox, outbox } = this.#parts;
    this.#whenStored(outbox.deadLetterLine(read.line), () => inbox.settle(read));
  }

  // What goes out.

  /** Sends what may be sent, and reads for each request what the next one needs. Returns whether it sent any. */
  #sendBatches(target: DispatchTarget | undefined): boolean {
    const { sending, pullConsumer } = this.#parts;
    if (target?.prepared === undefined || !this.#isAtWork) return false;
    if (!pullConsumer.isCurrent) {
      this.#confirm();
      return false;
    }
    if (!this.#options.erasures.isCurrent) return false;
    for (let hasSent = false; ; hasSent = true) {
      if (!this.#share.mayWork()) {
        this.#share.wait();
        return hasSent;
      }
      const batch = sending.next(target.prepared, {
        isPatient: this.#state.kind === 'running',
        turnOf: (item) => this.#turnOf(item, target),
        isLive: (item) => isDecided(item, this.#options.target(), { isErased: this.#isErased, consent: this.#consent }),
      });
      if (batch === undefined) return hasSent;
      this.#share.spend(requestUnits + batch.bytes);
      batch.delivered.then(
        (delivered) => {
          this.#ended.push({ batch, delivered });
          this.#ringOnceARound();
        },
        (error: unknown) => this.#fail(error),
      );
      this.#readEvents(target);
    }
  }

  /** It stood still: another one may be sending the same by now. What is drained is not asked for any more. */
  #confirm(): void {
    if (this.#isConfirming || this.#state.kind !== 'running') return;
    this.#isConfirming = true;
    this.#parts.pullConsumer.confirm().then(
      () => {
        this.#isConfirming = false;
        this.#wakeup.ring();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** Settles what has ended, as far as the account has something left for it. */
  #settleEnded(): void {
    let settled = 0;
    for (const { batch, delivered } of this.#ended) {
      if (!this.#share.mayWork()) {
        this.#share.wait();
        break;
      }
      this.#settleBatch(batch, delivered);
      settled += 1;
    }
    this.#ended.splice(0, settled);
  }

  #settleBatch(batch: Batch, delivered: Delivered): void {
    const { inbox, sending, outbox } = this.#parts;
    this.#observe(batch, delivered);
    const hasOpened = sending.ended(batch, delivered);
    this.#noteAccess(delivered);
    const whereabouts = outbox.settle(batch.items, delivered.attempts, batch.isProbe);
    for (const [index, item] of batch.items.entries()) {
      const at = whereabouts[index];
      if (delivered.attempts[index]?.outcome.kind !== 'delivered') this.#share.spend(movedUnits + item.bytes);
      if (at === 'settled') inbox.settle(item);
      else if (at === 'waits on') inbox.handBack(item.frame);
      else if (at !== undefined) this.#whenStored(at, () => inbox.settle(item));
    }
    this.#parkBehindFailed();
    sending.release(batch);
    if (hasOpened) {
      this.#counts.breaker_opened += 1;
      this.#parkedAtProbe = this.#counts.parked;
      this.#handBackUnstarted();
    }
  }

  /** What answers of one round of the event loop have made room for is sent together. */
  #ringOnceARound(): void {
    if (this.#isRinging) return;
    this.#isRinging = true;
    setImmediate(() => {
      this.#isRinging = false;
      this.#wakeup.ring();
    });
  }

  /** Tells whoever asks for the destination's health, and the log, that its key or token is refused or taken again. */
  #noteAccess({ isUp }: Delivered): void {
    const { health, sending } = this.#parts;
    const isRefused = sending.gate.isAccessRefused;
    if (isRefused || isUp) health.setAccessRefused(isRefused);
    if (isRefused === this.#isAccessRefused) return;
    this.#isAccessRefused = isRefused;
    const { destinationId, logger } = this.#options;
    if (isRefused) logger.error({ destinationId }, 'dispatcher: the destination refuses its key or token');
    else logger.info({ destinationId }, 'dispatcher: the destination accepts its key or token again');
  }

  #observe({ items, startedMs }: Batch, { requests, attempts }: Delivered): void {
    const { timings, target } = this.#options;
    const { dispatchDuration, eventAge } = timings.of(target()?.destination.type ?? 'unknown');
    this.#counts.requests += requests;
    if (requests > 0) {
      const tookMs = performance.now() - startedMs;
      dispatchDuration.observe(tookMs / 1_000);
      this.#parts.sending.answerTimes.observe(tookMs);
    }
    const nowMs = Date.now();
    for (const [index, { head }] of items.entries()) {
      if (attempts[index]?.outcome.kind === 'delivered') eventAge.observe((nowMs - head.receivedAtMs) / 1_000);
    }
  }

  /** All outcomes of a request are known: what is behind those that failed does not go on. */
  #parkBehindFailed(): void {
    const { sending, visitorOrder } = this.#parts;
    if (visitorOrder === undefined) return;
    for (const visitorId of visitorOrder.takeFailed()) {
      const isBehind = (item: DispatchItem): boolean => !visitorOrder.isHead(item);
      for (const item of sending.removeBehind(visitorId, isBehind)) this.#putBehind(item, visitorOrder);
    }
  }

  /** Has an event wait that is not in its lane, or not any more; a parked one does so where the log has it. */
  #putBehind(item: DispatchItem, order: VisitorOrder): void {
    const { inbox, outbox } = this.#parts;
    if (item.follower !== undefined) {
      inbox.handBack(item.frame);
      return;
    }
    this.#whenStored(outbox.park(item, order), () => inbox.settle(item));
  }

  /** What is left is for the next turn: the thread is not for this destination alone, nor for its account. */
  #storeParked(): void {
    const { outbox } = this.#parts;
    for (let stored = 0; stored < parkedATurn && outbox.parking > 0; stored += 1) {
      if (!this.#share.mayWork()) {
        this.#share.wait();
        return;
      }
      this.#share.spend(movedUnits + outbox.storeNextParked());
    }
    if (outbox.parking > 0) this.#ringOnceARound();
  }

  /** Goes on once the log has something. */
  #whenStored(stored: Promise<unknown>, goOn: () => void): void {
    this.#writes += 1;
    stored
      .then(() => {
        this.#writes -= 1;
        goOn();
        this.#wakeup.ring();
      })
      .catch((error: unknown) => this.#fail(error));
  }

  // When it takes more.

  /** Before anything is read: what came while the destination was left alone is for the request that finds out. */
  #noteSettings(target: DispatchTarget | undefined): void {
    if (target?.prepared === this.#preparedLast) return;
    this.#preparedLast = target?.prepared;
    this.#parts.sending.askAgain();
  }

  /** Takes more only while there is room for it and somebody to send it to. */
  #regulate(target: DispatchTarget | undefined): void {
    const { order, pullConsumer, frameShare, inbox, sending, retries, visitorOrder } = this.#parts;
    const { settings } = this.#options;
    if ((target?.prepared?.order ?? order) !== order && this.#state.kind === 'running') {
      // It goes on with this turn, which sends no more of what is fresh.
      void this.#end('order changed', orderChangeMs);
    }
    this.#noteProblem(target?.problem);
    const isRunning = this.#state.kind === 'running';
    const canSend = target?.destination.isEnabled === true && target.prepared !== undefined && !sending.gate.isShut;
    if (canSend && isRunning) {
      const together = Math.max(releasedTogetherMin, target.prepared.batchEventsMax);
      retries.open();
      visitorOrder?.open(Math.min(releasedTogetherMax, together));
    } else {
      retries.close();
      visitorOrder?.close();
    }
    const hasRoom =
      inbox.unopened < framesUnopenedMax &&
      sending.size < settings.eventsHeldMax &&
      inbox.bytes < frameShare.bytesMax &&
      !this.#isRetryLogFull();
    const passes = target?.destination.isEnabled === false;
    if (passes) this.#passOver();
    if (this.#mayHoldMissed) this.#missBegun();
    const isLate = this.#missUpTo > 0 && inbox.unopened < framesUnopenedMax;
    if ((passes || isLate || (canSend && hasRoom)) && isRunning) pullConsumer.resume();
    else pullConsumer.pause();
  }

  /** What was begun of frames that are missed goes no further than it is: nothing more of them is sent. */
  #missBegun(): void {
    const { inbox, sending } = this.#parts;
    this.#mayHoldMissed = false;
    const isMissed = ({ frame }: DispatchItem): boolean => seqOf(frame) > 0 && seqOf(frame) <= this.#missUpTo;
    const { destinationId, logger } = this.#options;
    logger.warn({ destinationId, upToSeq: this.#missUpTo }, 'dispatcher: skipping events that waited too long');
    this.#handBackUnstarted();
    for (const item of sending.remove(isMissed)) inbox.missEvent(item);
    inbox.missUnread(this.#missUpTo);
  }

  /** All that is missed was handed out. What came with the last of it waits where the rest does. */
  #caughtUp(): void {
    if (this.#missUpTo === 0) return;
    this.#missUpTo = 0;
    if (this.#parts.sending.gate.isShut) this.#handBackUnstarted();
  }

  #noteProblem(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    if (problem === undefined) return;
    const { destinationId, logger } = this.#options;
    logger.error({ destinationId, problem }, 'dispatcher: the destination cannot be sent to');
    this.#handBackUnstarted();
  }

  #handBackUnstarted(): void {
    const { inbox, sending } = this.#parts;
    const frames = inbox.handBackUnstarted();
    if (frames.size > 0) sending.remove(({ frame }) => frames.has(frame));
  }

  /** Switched off: what is held for it and not under way is not sent any more. Retries wait for better days. */
  #passOver(): void {
    const { inbox, sending, outbox } = this.#parts;
    this.#handBackUnstarted();
    for (const item of sending.remove(() => true)) {
      if (item.lane === 'fresh') {
        this.#counts.skipped += 1;
        inbox.settle(item);
      } else if (item.follower !== undefined) {
        inbox.handBack(item.frame);
      } else {
        this.#whenStored(outbox.putBack(item), () => inbox.settle(item));
      }
    }
  }

  // How it ends.

  async #end(end: DispatcherEnd, deadlineMs: number): Promise<void> {
    if (this.#state.kind === 'running') await this.#drain(deadlineMs);
    await this.#close({ kind: end });
  }

  async #drain(deadlineMs: number): Promise<void> {
    const { inbox, sending, pullConsumer, retries, visitorOrder } = this.#parts;
    this.#state = { kind: 'draining' };
    retries.close();
    visitorOrder?.close();
    this.#handBackUnstarted();
    inbox.leaveUnopened();
    sending.remove(({ lane }) => lane === 'fresh');
    this.#wakeup.ring();
    await Promise.all([this.#drained.wait(deadlineMs), pullConsumer.close()]);
  }

  /** Nothing is left to wait for once all that was sent is settled, and no more may be sent. */
  #isDrained(): boolean {
    const { sending, pullConsumer } = this.#parts;
    const { gate, size } = sending;
    const isOver = size === 0 || gate.isShut || !pullConsumer.isCurrent;
    return this.#state.kind === 'draining' && gate.inFlight === 0 && this.#writes === 0 && isOver;
  }

  #fail(error: unknown): void {
    void this.#close({ kind: 'failed', error });
  }

  /** Whoever closes it first says how it ends. */
  #close(how: { readonly kind: DispatcherEnd } | { readonly kind: 'failed'; readonly error: unknown }): Promise<void> {
    return (this.#closing ??= this.#closeParts().then(() => {
      this.#state = { kind: 'ended', end: how.kind };
      if (how.kind === 'failed') this.#reject(how.error);
      else this.#resolve(how.kind);
    }));
  }

  /** Never rejects. */
  async #closeParts(): Promise<void> {
    const { abort, pullConsumer, sending, health, inbox, retries, visitorOrder, lostHeads } = this.#parts;
    this.#state = { kind: 'closing' };
    abort.abort(new Error('the dispatcher ended'));
    this.#share.leave();
    this.#parts.opener.leave();
    this.#parts.frameShare.leave();
    this.#wakeup.ring();
    this.#drained.ring();
    await Promise.allSettled([pullConsumer.close(), sending.close()]);
    const storing = async (): Promise<void> => {
      await health.stop();
      inbox.handBackAll();
      await Promise.all([retries.stop(), visitorOrder?.stop(), lostHeads?.stop()]);
    };
    // Without the log what is not stored yet is not acknowledged either, and comes again.
    await withDeadline(Promise.allSettled([storing()]), storingMs);
  }
}
