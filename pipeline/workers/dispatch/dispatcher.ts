import { parkedTier } from '../../../shared/contracts/events/retry-record.ts';
import type { Actor } from '../worker/define-worker.ts';
import { Wakeup } from '../worker/wakeup.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';
import { assembleWork } from './assemble-work.ts';
import type { DispatcherWork } from './assemble-work.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import { readGauges } from './dispatcher-gauges.ts';
import { openDispatcherParts } from './dispatcher-parts.ts';
import type { DispatcherParts } from './dispatcher-parts.ts';
import { createDispatcherCounts } from './dispatcher-stats.ts';
import type { DispatcherCounts, DispatcherGauge } from './dispatcher-stats.ts';
import { closeParts, drainParts } from './lifecycle/close-parts.ts';
import { Lifecycle } from './lifecycle/lifecycle.ts';
import type { DispatcherEnd } from './lifecycle/lifecycle.ts';
import { ringOncePerRound } from './lifecycle/ring-once.ts';
import type { Batch } from './sending/sending.ts';
import type { Turn } from './sending/visitor-lanes.ts';
import { DispatchItem } from './sources/dispatch-item.ts';
import { paced } from './sources/pacing.ts';
import type { Taken } from './sources/untried.ts';

export type DispatcherActor = Actor & {
  /** Call when a new version may have changed the target. */
  reconfigured(): void;
  /** Call when another process has stored a replay in a tier of the retry log. */
  retriesStored(tier: number): void;
  /** Skips the events of the account's log up to a sequence, and records them as skipped. Never rejects. */
  passOver(upToSeq: number): Promise<void>;
};

/**
 * Starts the dispatcher of one destination. The setting `order` never changes within a dispatcher: if a version changes
 * it, the dispatcher stops, and the next one starts from the log.
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

/** Cost of a request without its events, in units of work. */
const requestUnits = 4_000;
/** Cost of deciding an event again, without the work of its rules. */
const decidedAgainUnits = 100;
/** Interval at which conditions without a signal are checked, in ms: room in the retry log, the end of draining. */
const checkEveryMs = 100;
/** Time that work in progress has to finish before a new `order` applies, in ms. */
const orderChangeMs = 15_000;

/**
 * Takes the resolved events of the destination's account, decides which of them the destination gets, sends them in the
 * order of each visitor, and stores failed ones in the retry log or the dead letters. A frame is acknowledged once each of
 * its events is settled and health has counted it.
 *
 * One loop: it takes events from the sources, decides them, sends them in batches and settles their results. Sources,
 * answers and writes to the log wake it. It does not run on `runConsumerWorker`, which finishes the frames that it took
 * before it takes others: here frames of several sources are in flight at once, and a stop waits for answers, not frames.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #counts: DispatcherCounts;
  readonly #parts: DispatcherParts;
  readonly #work: DispatcherWork;
  readonly #lifecycle: Lifecycle;
  readonly #wakeup = new Wakeup();
  readonly #ringOnce = ringOncePerRound(this.#wakeup);
  readonly #take: (wantsFresh: boolean) => Taken | undefined;
  readonly #nextBatch: (target: DispatchTarget) => Batch | undefined;
  readonly #decideAgain: (item: DispatchItem, target: DispatchTarget) => Turn | undefined;
  #isConfirming = false;

  private constructor(options: DispatcherOptions, counts: DispatcherCounts, parts: DispatcherParts) {
    this.#options = options;
    this.#counts = counts;
    this.#parts = parts;
    this.#lifecycle = new Lifecycle({
      drain: () => {
        this.#wakeup.ring();
        return drainParts(parts, this.#work);
      },
      close: () => {
        this.#wakeup.ring();
        return closeParts(parts, this.#work);
      },
    });
    this.#work = assembleWork(options, counts, parts, {
      lifecycle: this.#lifecycle,
      wake: () => this.#wakeup.ring(),
    });
    const { budget, sources } = this.#work;
    this.#take = paced(budget, (wantsFresh) => sources.take(wantsFresh));
    const unitsOf = ({ bytes }: Batch): number => requestUnits + bytes;
    this.#nextBatch = paced(budget, (target: DispatchTarget) => this.#makeBatch(target), unitsOf);
    const decide = (item: DispatchItem, target: DispatchTarget): Turn => this.#turnOfUndecided(item, target);
    this.#decideAgain = paced(budget, decide, () => decidedAgainUnits);
  }

  /** Takes the destination over from its previous dispatcher, and continues there. */
  static async open(options: DispatcherOptions, counts: DispatcherCounts): Promise<Dispatcher> {
    const dispatcher = new Dispatcher(options, counts, await openDispatcherParts(options, counts));
    const { skipUpTo, taken } = dispatcher.#parts;
    const { fail } = dispatcher.#lifecycle;
    void dispatcher.#work.skipAhead.skipTo(skipUpTo, 'position_lost');
    void taken.then(fail);
    dispatcher.#run().catch(fail);
    dispatcher.#work.sources.begin();
    return dispatcher;
  }

  /** Rejects with the error that ended the dispatcher. */
  get done(): Promise<DispatcherEnd> {
    return this.#lifecycle.done;
  }

  gauges(): Record<DispatcherGauge, number> {
    return readGauges(this.#parts, this.#work);
  }

  reconfigured(): void {
    this.#wakeup.ring();
  }

  retriesStored(tier: number): void {
    this.#parts.retries.stored(tier);
    if (tier === parkedTier) this.#parts.visitorOrder?.takeUpParked();
  }

  passOver(upToSeq: number): Promise<void> {
    return this.#work.skipAhead.skipTo(upToSeq, 'retention');
  }

  /**
   * Sends no more events of the account's log, and waits at most `deadlineMs` for answers to requests in flight: if all
   * arrive, the next dispatcher sends nothing twice. Frames of the retry log that were started are finished, as long as
   * no other process can own the destination. A second call does not extend the wait.
   */
  stop(deadlineMs: number): Promise<void> {
    return this.#lifecycle.end('stopped', deadlineMs);
  }

  async #run(): Promise<void> {
    const { settlement, flow } = this.#work;
    while (this.#lifecycle.isAtWork) {
      this.#options.beginTurn(this.#parts.inbox.atWork);
      const target = this.#options.target();
      this.#followOrder(target);
      settlement.settleEnded();
      flow.noteSettings(target);
      this.#decideEvents(target);
      flow.regulate(target, this.#lifecycle.isRunning);
      if (this.#send(target)) flow.regulate(target, this.#lifecycle.isRunning);
      if (settlement.storeParked()) this.#ringOnce();
      if (this.#isDrained()) this.#lifecycle.drained();
      await this.#wakeup.wait(this.#waitMs());
    }
  }

  /** If a version has another `order`, ends the dispatcher; this turn continues and takes nothing more from the log. */
  #followOrder(target: DispatchTarget | undefined): void {
    const { order } = this.#parts;
    const isOther = (target?.prepared?.order ?? order) !== order;
    if (isOther && this.#lifecycle.isRunning) void this.#lifecycle.end('order changed', orderChangeMs);
  }

  #waitMs(): number {
    const nextMs = Math.max(1, this.#parts.sending.nextAtMs - performance.now() + 1);
    const { flow, admission } = this.#work;
    const isChecking = this.#lifecycle.isDraining || flow.isPaused || !admission.isCurrent;
    return isChecking ? Math.min(nextMs, checkEveryMs) : nextMs;
  }

  /** Decides events while too few are ready to be sent. Deciding them earlier would only take memory. */
  #decideEvents(target: DispatchTarget | undefined): void {
    const { flow, sources, settlement } = this.#work;
    if (!flow.canDecide(target)) return;
    for (;;) {
      const wantsFresh = flow.wantsFresh(target);
      if (!wantsFresh && sources.isEmpty) return;
      const taken = this.#take(wantsFresh);
      if (taken === undefined) return;
      if (!(taken instanceof DispatchItem)) {
        settlement.keep(taken);
        continue;
      }
      this.#counts.events += 1;
      if (this.#isToBeSent(taken, target)) settlement.queue(taken);
    }
  }

  /** Decides an attempt. Settles an event that is not to be sent. */
  #isToBeSent(item: DispatchItem, target: DispatchTarget): boolean {
    const { admission, settlement } = this.#work;
    try {
      const decision = admission.decide(item, target);
      if (decision.kind === 'send') return true;
      settlement.exclude(item, decision);
    } catch (error) {
      if (item.isReadable) throw error;
      settlement.keepUnreadable(item);
    }
    return false;
  }

  /** Sends the next requests, and after each decides more events. Returns whether it sent any. */
  #send(target: DispatchTarget | undefined): boolean {
    if (target?.prepared === undefined || !this.#lifecycle.isAtWork || !this.#work.admission.isCurrent) return false;
    if (!this.#parts.pullConsumer.isCurrent) {
      this.#confirm();
      return false;
    }
    let hasSent = false;
    for (let batch = this.#nextBatch(target); batch !== undefined; batch = this.#nextBatch(target)) {
      hasSent = true;
      this.#follow(batch);
      this.#decideEvents(target);
    }
    return hasSent;
  }

  #makeBatch(target: DispatchTarget): Batch | undefined {
    if (target.prepared === undefined) return undefined;
    return this.#parts.sending.next(target.prepared, {
      isPatient: this.#lifecycle.isRunning,
      turnOf: (item) => this.#turnOf(item, target),
      isLive: (item) => this.#work.admission.isDecided(item, this.#options.target()),
    });
  }

  /** Decides a waiting event again, just before its request, if the earlier decision no longer holds. */
  #turnOf(item: DispatchItem, target: DispatchTarget): Turn {
    if (this.#work.admission.isDecided(item, target)) return 'take';
    return this.#decideAgain(item, target) ?? 'stay';
  }

  #turnOfUndecided(item: DispatchItem, target: DispatchTarget): Turn {
    if (this.#isToBeSent(item, target)) return 'take';
    // Continues in a later round, which leaves time for other dispatchers.
    this.#ringOnce();
    return 'leave';
  }

  /** Settles the batch once it is answered; answers that arrive in one round of the event loop are settled together. */
  #follow(batch: Batch): void {
    const { settlement } = this.#work;
    batch.delivered.then((delivered) => {
      settlement.ended({ batch, delivered });
      this.#ringOnce();
    }, this.#lifecycle.fail);
  }

  /** Asks the log whether another process owns the destination by now. Call after a standstill of this process. */
  #confirm(): void {
    if (this.#isConfirming || !this.#lifecycle.isRunning) return;
    this.#isConfirming = true;
    this.#parts.pullConsumer.confirm().then(() => {
      this.#isConfirming = false;
      this.#wakeup.ring();
    }, this.#lifecycle.fail);
  }

  /** Whether everything sent is settled, and no more may be sent. */
  #isDrained(): boolean {
    const { sending, pullConsumer } = this.#parts;
    const { writes, sources } = this.#work;
    const { gate, size } = sending;
    const isOver = (size === 0 && sources.isEmpty) || gate.isShut || !pullConsumer.isCurrent;
    return this.#lifecycle.isDraining && gate.inFlight === 0 && writes.size === 0 && isOver;
  }
}
