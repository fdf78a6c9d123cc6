import { withDeadline } from '../../../shared/nats/connection/connection.ts';
import { BatchLinger } from './sending/batch-linger.ts';
import { buryUnreadable } from './bury-unreadable.ts';
import { deliver } from './sending/deliver.ts';
import type { Delivered } from './sending/deliver.ts';
import type { DispatchItem } from './dispatch-item.ts';
import type { DispatchPlace } from './inbox/dispatch-place.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatchParts } from './dispatch-parts.ts';
import type { DispatcherGauge } from './dispatcher-stats.ts';
import { HeldFrames } from './inbox/held-frames.ts';
import type { HeldFrame } from './inbox/held-frames.ts';
import { Intake } from './intake.ts';
import type { RetryFrame } from './outbox/retry-reader.ts';
import { nextLane } from './sending/next-lane.ts';
import { createOutcomeNoter } from './outcome-noter.ts';
import type { NoteOutcome } from './outcome-noter.ts';
import { RequestGate } from './sending/request-gate.ts';
import { putBack, settleAttempts } from './settle-attempts.ts';
import type { SettlingContext } from './settle-attempts.ts';
import { VisitorLanes } from './sending/visitor-lanes.ts';
import type { LaneClass } from './sending/visitor-lanes.ts';
import { VisitorOrder } from './visitor-order.ts';

const framesPerTake = 16;
/** Parked events of one visitor that are sent one after the other before the log is asked for more. */
const releasedTogetherMin = 16;
const releasedTogetherMax = 256;
/** Fresh events that may be parked in search of one a destination can be tried out with. */
const parkedForProbeMax = 256;
/** Frames that wait to be read while no more are asked for. */
const framesUnopenedMax = 16;
/** How long the end may wait for the log to store the last counts, in ms. */
const storingMs = 1_000;

/** The work of one dispatcher: what it holds, what is in flight, and when it takes more. */
export class DispatchRun {
  readonly done: Promise<void>;
  readonly #parts: DispatchParts;
  readonly #lanes = new VisitorLanes<DispatchItem>();
  readonly #held: HeldFrames;
  readonly #gate: RequestGate;
  readonly #linger: BatchLinger;
  readonly #settling: SettlingContext;
  readonly #intake: Intake;
  /** Events sent and not settled. */
  #unsettled = 0;
  readonly #order: VisitorOrder | undefined;
  /** Events parked when the breaker opened last. */
  #parkedAtProbe = 0;
  #isStopping = false;
  #ending: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #problem: string | undefined;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    const { keeper, retryWriter, deadLetters, counts, options } = parts;
    const { settings, retryPolicy, sourceActivity, target } = options;
    const note = createOutcomeNoter(options);
    this.#held = new HeldFrames(settings.ackWaitMs / 3);
    this.#gate = new RequestGate(settings.concurrency, () => this.wake());
    this.#linger = new BatchLinger(settings.lingerMs, () => this.#pump());
    const onFailed = (error: unknown): void => this.#fail(error);
    this.#order = this.#createOrder(note);
    this.#settling = {
      keeper,
      retryPolicy,
      retryWriter,
      deadLetters,
      sourceActivity,
      counts,
      note,
      order: this.#order,
      noteAge: (ageMs) => this.#timings().eventAge.observe(ageMs / 1_000),
      onFailed,
      onSettled: ({ frame, index }) => {
        this.#unsettled -= 1;
        this.#settle(frame, index);
      },
    };
    this.#intake = new Intake({
      target,
      counts,
      keeper,
      deadLetters,
      lanes: this.#lanes,
      held: this.#held,
      note,
      handedOutSeq: parts.pullConsumer.handedOutSeq,
      settledBefore: parts.settledBefore,
      order: this.#order,
      onSettled: (frame, line) => this.#settle(frame, line),
      onFailed,
      acknowledge: (delivery) => {
        delivery.ack();
        parts.onAcknowledged(delivery.seq);
      },
    });
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(): void {
    this.#order?.start();
    this.wake();
    this.#takeFrames().catch((error: unknown) => this.#fail(error));
  }

  /** Something changed: takes more or less, and sends what may be sent. */
  wake(): void {
    this.#guard(() => {
      this.#intake.readWhile(() => this.#wantsEvents());
      this.#regulate();
      this.#pump();
    });
  }

  gauges(): Record<DispatcherGauge, number> {
    return {
      events_held: this.#lanes.size,
      requests_in_flight: this.#gate.inFlight,
      concurrency: this.#gate.concurrency,
      breaker_open: this.#gate.isBreakerClosed ? 0 : 1,
      breaker_probing: this.#gate.isProbing ? 1 : 0,
      visitors_waiting: this.#order?.visitorsWaiting ?? 0,
      events_parked: this.#order?.eventsParked ?? 0,
      order_paused: this.#order?.isPaused === true ? 1 : 0,
      misconfigured: this.#problem === undefined ? 0 : 1,
    };
  }

  /** Somebody put something into the tier of parked events. */
  parkedStored(): void {
    this.#order?.parkedStored();
  }

  takeRetries(frame: RetryFrame): void {
    this.#guard(() => this.#intake.takeRetries(frame));
    this.wake();
  }

  /** What is settled, for the next dispatcher. */
  place(): DispatchPlace {
    const parts = this.#held.begun.map(({ seq, storedAtMs, settled: lines = new Uint8Array() }) => ({
      seq,
      storedAtMs,
      lines,
    }));
    return { finished: this.#parts.pullConsumer.finished, parts };
  }

  /**
   * Sends nothing more of the account's log, and waits at most `deadlineMs` for answers to what is in flight: with all of
   * them the next dispatcher sends nothing twice. Frames of the retry log that are begun are finished.
   */
  async stop(deadlineMs: number): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      this.#regulate();
      this.#handBackUnstarted();
      this.#intake.forgetUnopened();
      this.#lanes.remove(({ lane }) => lane === 'fresh');
      const closing = this.#parts.pullConsumer.close();
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      this.wake();
      this.#reportIdle();
      const late = setTimeout(() => this.#onIdle?.(), deadlineMs);
      await Promise.all([idle, closing]);
      clearTimeout(late);
    }
    await this.#end();
    this.#resolve();
  }

  #createOrder(note: NoteOutcome): VisitorOrder | undefined {
    const { waits, options, counts, keeper, retryWriter, deadLetters } = this.#parts;
    if (waits === undefined) return undefined;
    const { settings, destinationId, logger, target } = options;
    return new VisitorOrder({
      ...waits,
      limits: settings.order,
      counts,
      keeper,
      retryWriter,
      note,
      lanes: this.#lanes,
      held: this.#held,
      releaseMax: () =>
        Math.min(releasedTogetherMax, Math.max(releasedTogetherMin, target()?.prepared?.batchEventsMax ?? 1)),
      onReleased: (released) => this.#guard(() => this.#intake.takeReleased(released)),
      wake: () => this.wake(),
      onUnreadable: (line) => buryUnreadable({ counts, deadLetters }, line),
      onSettled: ({ frame, index }) => {
        this.#settle(frame, index);
        this.wake();
      },
      onFailed: (error) => this.#fail(error),
      onError: (error) => logger.warn({ destinationId, err: error }, 'dispatcher: reading parked events failed'),
    });
  }

  async #takeFrames(): Promise<void> {
    for (;;) {
      const deliveries = await this.#parts.pullConsumer.take(framesPerTake);
      if (deliveries.length === 0) return;
      if (this.#isStopping) return;
      for (const delivery of deliveries) this.#intake.takeFrame(delivery);
      this.wake();
    }
  }

  /** Whether too few events are ready for the requests that may be made now. What is read earlier only takes memory. */
  #wantsEvents(): boolean {
    if (this.#lanes.size >= this.#parts.options.settings.eventsHeldMax || this.#order?.isFull() === true) return false;
    // While it is tried out, a search for an event of a visitor that does not wait would park all others.
    const { counts } = this.#parts;
    if (!this.#gate.isBreakerClosed && counts.parked - this.#parkedAtProbe > parkedForProbeMax) return false;
    const prepared = this.#parts.options.target()?.prepared;
    // A batch of one group is picked out of many events.
    const requests = prepared?.groupOf === undefined ? this.#gate.room : this.#gate.concurrency;
    return this.#lanes.readyCount('fresh') < requests * (prepared?.batchEventsMax ?? 1);
  }

  #timings(): ReturnType<DispatcherOptions['timings']['of']> {
    const { timings, target } = this.#parts.options;
    return timings.of(target()?.destination.type ?? 'unknown');
  }

  #pump(): void {
    const { abort, sender, pullConsumer } = this.#parts;
    const prepared = this.#parts.options.target()?.prepared;
    if (prepared === undefined) return;
    if (!pullConsumer.isCurrent) {
      // It stood still: another one may be sending the same by now.
      pullConsumer.confirm().then(
        () => this.wake(),
        (error: unknown) => this.#fail(error),
      );
      return;
    }
    while (!abort.signal.aborted && this.#gate.room > 0) {
      const lane = this.#nextLane();
      if (lane === undefined) return;
      const max = prepared.batchEventsMax;
      if (!this.#isStopping && this.#linger.shouldWait(this.#lanes.readyCount(lane), max, this.#gate.inFlight)) return;
      const items = this.#lanes.take(lane, max, this.#order !== undefined && prepared.retriesRows === true);
      this.#linger.sent();
      this.#unsettled += items.length;
      const startedMs = this.#gate.started(lane);
      for (const { frame } of items) frame.isStarted = true;
      deliver(prepared, sender, items).then(
        (delivered) => this.#afterDelivery(lane, startedMs, items, delivered),
        (error: unknown) => this.#fail(error),
      );
      for (const item of items) item.forgetParsed();
    }
  }

  #nextLane(): LaneClass | undefined {
    return nextLane({
      isFreshReady: this.#lanes.readyCount('fresh') > 0,
      isRetriedReady: this.#lanes.readyCount('retried') > 0,
      ...this.#gate.turn,
    });
  }

  #afterDelivery(lane: LaneClass, startedMs: number, items: readonly DispatchItem[], delivered: Delivered): void {
    const { counts, abort } = this.#parts;
    if (abort.signal.aborted) return;
    counts.requests += delivered.requests;
    if (delivered.requests > 0) this.#timings().dispatchDuration.observe((performance.now() - startedMs) / 1_000);
    const hasOpened = this.#gate.ended(lane, startedMs, delivered);
    settleAttempts(this.#settling, items, delivered.attempts);
    this.#lanes.release(items);
    if (hasOpened) {
      counts.breaker_opened += 1;
      this.#parkedAtProbe = counts.parked;
      this.#handBackUnstarted();
    }
    this.wake();
    this.#reportIdle();
  }

  /** Takes more only while there is room for it and somebody to send it to. */
  #regulate(): void {
    const { options, pullConsumer, retryReader, order, onOrderChanged } = this.#parts;
    const { settings, destinationId, logger } = options;
    const target = options.target();
    if ((target?.prepared?.order ?? order) !== order) onOrderChanged();
    if (this.#problem !== target?.problem) {
      this.#problem = target?.problem;
      if (this.#problem !== undefined) {
        logger.error({ destinationId, problem: this.#problem }, 'dispatcher: the destination cannot be sent to');
        this.#handBackUnstarted();
      }
    }
    const canSend = target?.destination.isEnabled === true && target.prepared !== undefined && !this.#gate.isShut;
    const hasRoom =
      this.#intake.unopened < framesUnopenedMax &&
      this.#lanes.size < settings.eventsHeldMax &&
      this.#held.bytes < settings.bytesHeldMax &&
      this.#order?.isFull() !== true;
    if (canSend && !this.#isStopping) {
      retryReader().open();
      this.#order?.open();
    } else {
      retryReader().close();
      this.#order?.close();
    }
    const passes = target?.destination.isEnabled === false;
    if (passes) this.#passOver();
    if ((passes || (canSend && hasRoom)) && !this.#isStopping) pullConsumer.resume();
    else pullConsumer.pause();
  }

  #settle(frame: HeldFrame, line: number | undefined): void {
    this.#parts.keeper.moved();
    this.#held.settle(frame, line);
    this.#reportIdle();
  }

  #handBackUnstarted(): void {
    const abandoned = this.#held.abandonUnstarted();
    if (abandoned.size === 0) return;
    this.#intake.forget(abandoned);
    this.#lanes.remove(({ frame }) => abandoned.has(frame));
  }

  /** Switched off: what is held for it and not under way is not sent any more. Retries wait for better days. */
  #passOver(): void {
    this.#handBackUnstarted();
    for (const item of this.#lanes.remove(() => true)) {
      if (item.lane === 'fresh') {
        this.#parts.counts.skipped += 1;
        this.#settle(item.frame, item.index);
      } else if (item.follower !== undefined) {
        this.#held.abandon(item.frame);
      } else {
        this.#unsettled += 1;
        putBack(this.#settling, item);
      }
    }
  }

  /** When stopping: nothing is left to wait for once all that was sent is settled, and no more may be sent. */
  #reportIdle(): void {
    if (this.#unsettled === 0 && this.#order?.isStoring !== true && (this.#lanes.size === 0 || this.#gate.isShut))
      this.#onIdle?.();
  }

  /** Whoever wakes it, the thread most of all, is not to fall with it. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#parts.abort.signal.aborted) return;
    this.#isStopping = true;
    this.#end().then(
      () => this.#reject(error),
      () => this.#reject(error),
    );
  }

  #end(): Promise<void> {
    return (this.#ending ??= this.#close());
  }

  async #close(): Promise<void> {
    const { abort, pullConsumer, sender, retryReader, keeper } = this.#parts;
    abort.abort(new Error('the dispatcher ended'));
    this.#gate.stop();
    this.#linger.stop();
    await Promise.allSettled([pullConsumer.close(), sender.close()]);
    const storing = async (): Promise<void> => {
      await keeper.stop();
      this.#held.abandonAll();
      await Promise.all([retryReader().stop(), this.#order?.stop()]);
    };
    // Without the log what is not stored yet is not acknowledged either, and comes again.
    await withDeadline(storing(), storingMs);
  }
}
