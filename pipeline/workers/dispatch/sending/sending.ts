import type { SendingState } from '../../../../shared/contracts/health-record.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import type { Sender } from '../../../../shared/egress/sender.ts';
import type { DispatchItem, LaneClass } from '../sources/dispatch-item.ts';
import { AnswerTimes } from './answer-times.ts';
import { deliver } from './deliver.ts';
import type { Delivered } from './deliver.ts';
import { nextLane } from './next-lane.ts';
import { RequestGate } from './request-gate.ts';
import type { AccessRetry } from './request-gate.ts';
import { VisitorLanes } from './visitor-lanes.ts';
import type { Turn } from './visitor-lanes.ts';

export type SendingOptions = {
  readonly sender: Sender;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** A batch that is not full may wait this long for more events while other batches are in flight, in ms. */
  readonly lingerMs: number;
  readonly accessRetry: AccessRetry;
  /** Maximum bytes of the events of one request, measured as the log has them, with their visitors. */
  readonly requestBytesMax: number;
  /** Whether later events of a visitor must not be sent after a failed event. */
  readonly keepsOrder: boolean;
};

/** Events that are sent together. Call `ended` and `release` once their results are known. */
export type Batch = {
  readonly lane: LaneClass;
  readonly items: readonly DispatchItem[];
  /** Approximate bytes of the events in the request. */
  readonly bytes: number;
  /** Whether the batch probes the destination. */
  readonly isProbe: boolean;
  /** When its first request was started, by performance.now(). */
  readonly startedMs: number;
  /** Rejects only on a bug. */
  readonly delivered: Promise<Delivered>;
};

export type NextOptions = {
  /** Whether a batch that is not full may wait a short time for more events. */
  readonly isPatient: boolean;
  /** Called for each event before it is put into a request; must not change the lanes. */
  readonly turnOf: (item: DispatchItem) => Turn;
  /** Whether the decision to send an event of a batch still holds; called before each of its requests. */
  readonly isLive: (item: DispatchItem) => boolean;
};

/**
 * The events that wait to be sent, in order for each visitor, and the events in flight. Decides when the next request
 * is made, and with which events.
 */
export class Sending {
  readonly #options: SendingOptions;
  readonly #lanes = new VisitorLanes<DispatchItem>();
  readonly #gate: RequestGate;
  readonly answerTimes = new AnswerTimes();
  /**
   * Until this time a batch that is not full waits for more events, by performance.now(); undefined while no batch
   * waits.
   */
  #lingerUntilMs: number | undefined;
  #isLingering = false;
  /** When the platform's rate limit allows the next request, by performance.now(). */
  #allowedAtMs = -Infinity;

  constructor(options: SendingOptions) {
    this.#options = options;
    this.#gate = new RequestGate(options.concurrency, options.accessRetry);
  }

  /** The state of the limits on requests, read-only. */
  get gate(): Omit<RequestGate, 'started' | 'ended' | 'askAgain'> {
    return this.#gate;
  }

  /** The state of sending, for the destination's health. */
  get state(): SendingState {
    const { isBreakerClosed, isProbing, concurrency } = this.#gate;
    const answerMs = this.answerTimes.summary();
    return {
      breaker: isBreakerClosed ? 'closed' : isProbing ? 'probing' : 'open',
      concurrency,
      ...(answerMs === undefined ? {} : { answerMs }),
    };
  }

  /** Call when the destination has other settings: if it refused its key, it is probed now. */
  askAgain(): void {
    this.#gate.askAgain();
  }

  /** Number of events in memory, whether waiting or in flight. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Approximate bytes that the events in memory would take in requests. */
  get bytes(): number {
    return this.#lanes.bytes;
  }

  /** When the next batch may be due although nothing happens until then, by performance.now(). */
  get nextAtMs(): number {
    const lingerMs = this.#isLingering ? (this.#lingerUntilMs ?? Infinity) : Infinity;
    return Math.min(lingerMs, this.#gate.moreAtMs, this.#isRateLimited ? this.#allowedAtMs : Infinity);
  }

  /**
   * Whether too few fresh events are ready for the next request. Events of later requests are read after that request
   * is sent.
   */
  wantsFresh(prepared: OfferedDestination): boolean {
    // If the kind sends groups, a batch of one group is chosen from more events.
    const requests = prepared.groupOf === undefined ? Math.min(1, this.#gate.room) : this.#gate.concurrency;
    return this.#lanes.readyCount('fresh') < requests * this.#eventsMax(prepared);
  }

  add(item: DispatchItem): void {
    this.#lanes.add(item);
  }

  /** Sends the next batch if one may be sent now. */
  next(prepared: OfferedDestination, { isPatient, turnOf, isLive }: NextOptions): Batch | undefined {
    for (;;) {
      const lane = this.#gate.room > 0 && !this.#isRateLimited ? this.#nextLane() : undefined;
      const max = this.#eventsMax(prepared);
      this.#isLingering = isPatient && lane !== undefined && this.#shouldLinger(lane, max);
      if (lane === undefined || this.#isLingering) return undefined;
      this.#lingerUntilMs = undefined;
      const limits = {
        itemsMax: max,
        bytesMax: this.#options.requestBytesMax,
        isOneEach: this.#options.keepsOrder && prepared.retriesRows === true,
      };
      const items = this.#lanes.take(lane, limits, turnOf);
      if (items.length > 0) return this.#send(prepared, lane, items, isLive);
      // Either an event has to stay, or all events of this lane were settled; then the other lane may have some.
      if (this.#lanes.readyCount(lane) > 0) return undefined;
    }
  }

  #send(
    prepared: OfferedDestination,
    lane: LaneClass,
    items: readonly DispatchItem[],
    isLive: NextOptions['isLive'],
  ): Batch {
    const { sender } = this.#options;
    const isProbe = !this.#gate.isBreakerClosed;
    const startedMs = this.#gate.started(lane);
    if (prepared.requestEveryMs !== undefined) this.#allowedAtMs = startedMs + prepared.requestEveryMs;
    for (const { frame } of items) frame.isStarted = true;
    const delivered = deliver(prepared, sender, items, () => items.every(isLive));
    let bytes = 0;
    for (const item of items) {
      item.forgetParsed();
      bytes += item.bytes;
    }
    return { lane, items, bytes, isProbe, startedMs, delivered };
  }

  /** Call when the batch's requests have ended. Returns whether that opened the breaker. */
  ended({ lane, startedMs }: Batch, delivered: Delivered): boolean {
    return this.#gate.ended(lane, startedMs, delivered);
  }

  /** Call when all events of the batch are settled or being stored: later events of their visitors may then be sent. */
  release({ items }: Batch): void {
    this.#lanes.release(items);
  }

  /** Removes and returns, in order, the events for which `fits` returns true, except those in flight. */
  remove(fits: (item: DispatchItem) => boolean): readonly DispatchItem[] {
    return this.#lanes.remove(fits);
  }

  /**
   * Removes and returns, in order, the events of a visitor that wait for its events in flight and for which `fits`
   * returns true.
   */
  removeBehind(visitorId: string, fits: (item: DispatchItem) => boolean): readonly DispatchItem[] {
    return this.#lanes.removeBehind(visitorId, fits);
  }

  close(): Promise<void> {
    return this.#options.sender.close();
  }

  /** Maximum number of events in a request: one for a probe, since all events of a probe are likely to fail. */
  #eventsMax({ batchEventsMax }: OfferedDestination): number {
    return this.#gate.isBreakerClosed ? batchEventsMax : 1;
  }

  get #isRateLimited(): boolean {
    return this.#allowedAtMs !== -Infinity && performance.now() < this.#allowedAtMs;
  }

  #nextLane(): LaneClass | undefined {
    return nextLane({
      isFreshReady: this.#lanes.readyCount('fresh') > 0,
      isRetriedReady: this.#lanes.readyCount('retried') > 0,
      ...this.#gate.turn,
    });
  }

  /**
   * Whether a batch that is not full waits a short time for more events. It waits only while other requests are in
   * flight.
   */
  #shouldLinger(lane: LaneClass, max: number): boolean {
    const { lingerMs } = this.#options;
    const isWorthIt = lingerMs > 0 && this.#gate.inFlight > 0 && this.#lanes.readyCount(lane) < max;
    if (!isWorthIt) return false;
    const nowMs = performance.now();
    this.#lingerUntilMs ??= nowMs + lingerMs;
    return nowMs < this.#lingerUntilMs;
  }
}
