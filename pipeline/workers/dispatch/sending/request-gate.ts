import {
  accessBreakerLimits,
  breakerAt,
  breakerEnded,
  breakerLimits,
  breakerRoom,
  breakerStarted,
  breakerUnasked,
  closedBreaker,
} from './breaker.ts';
import type { BreakerLimits, BreakerState } from './breaker.ts';
import { adaptConcurrency, openConcurrency } from './adaptive-concurrency.ts';
import type { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import type { Delivered } from './deliver.ts';
import type { LaneChoice } from './next-lane.ts';
import type { LaneClass } from '../sources/dispatch-item.ts';

/** How long a probe that may already be made waits for a fresh event from the log, in ms. */
const freshProbeMs = 500;

/** The state of the destination that an ended request showed. */
type GateReport = Pick<Delivered, 'requests' | 'isUp' | 'isOverloaded' | 'isAccessRefused'>;

/** The first and the longest pause of a destination that refuses its key or token, in ms. */
export type AccessRetry = { readonly minMs: number; readonly maxMs: number };

/** Decides whether another request may be started, by the limit on requests in flight and by the breaker. */
export class RequestGate {
  readonly #concurrencyMax: number;
  readonly #accessLimits: BreakerLimits;
  #concurrency: AdaptiveConcurrency;
  readonly #inFlight: Record<LaneClass, number> = { fresh: 0, retried: 0 };
  #freshSinceRetried = Infinity;
  #breaker: BreakerState = closedBreaker;
  #isAccessRefused = false;
  /** Until this time, by performance.now(), a probe may use only a fresh event. */
  #freshProbeUntilMs = -Infinity;

  constructor(concurrency: number, accessRetry: AccessRetry) {
    this.#concurrencyMax = concurrency;
    this.#accessLimits = { ...accessBreakerLimits, openMinMs: accessRetry.minMs, openMaxMs: accessRetry.maxMs };
    this.#concurrency = openConcurrency(concurrency);
  }

  /** Number of requests that may be in flight, adapted to the destination. */
  get concurrency(): number {
    return Math.floor(this.#concurrency.limit);
  }

  get inFlight(): number {
    return this.#inFlight.fresh + this.#inFlight.retried;
  }

  /** Whether the destination is paused because it refuses its key or token. */
  get isAccessRefused(): boolean {
    return this.#isAccessRefused;
  }

  /** Allows a probe at once if the destination refused its key, since the key may have changed. */
  askAgain(): void {
    if (this.#isAccessRefused && this.#breaker.kind === 'open')
      this.#breaker = { ...this.#breaker, untilMs: -Infinity };
  }

  /** Whether no requests are made for now. */
  get isShut(): boolean {
    if (this.#breaker.kind === 'closed') return false;
    this.#breaker = breakerAt(this.#breaker, performance.now());
    return this.#breaker.kind === 'open';
  }

  /**
   * When more requests may be started even if no answer arrives, by performance.now(); Infinity if only an answer
   * allows more.
   */
  get moreAtMs(): number {
    if (this.isBreakerClosed) return Infinity;
    if (this.#breaker.kind === 'open') return this.#breaker.untilMs;
    return this.#asking === 'a fresh probe' ? this.#freshProbeUntilMs : Infinity;
  }

  /** Whether the destination is being probed, one request at a time. */
  get isProbing(): boolean {
    return breakerAt(this.#breaker, performance.now()).kind === 'half-open';
  }

  get isBreakerClosed(): boolean {
    return this.#breaker.kind === 'closed';
  }

  /** The inputs for the choice of the next lane. */
  get turn(): Pick<LaneChoice, 'retriedInFlight' | 'freshSinceRetried' | 'asking'> {
    return {
      retriedInFlight: this.#inFlight.retried / this.concurrency,
      freshSinceRetried: this.#freshSinceRetried,
      asking: this.#asking,
    };
  }

  /** Number of requests that may be started now. */
  get room(): number {
    if (this.isShut) return 0;
    return Math.max(0, Math.min(this.concurrency - this.inFlight, breakerRoom(this.#breaker)));
  }

  /** Call when a request is started. Returns the start time, which `ended` needs. */
  started(lane: LaneClass): number {
    this.#breaker = breakerStarted(this.#breaker);
    this.#inFlight[lane] += 1;
    this.#freshSinceRetried = lane === 'retried' ? 0 : this.#freshSinceRetried + 1;
    return performance.now();
  }

  /** Call when a request has ended. Returns whether that opened the breaker. */
  ended(lane: LaneClass, startedMs: number, said: GateReport): boolean {
    this.#inFlight[lane] -= 1;
    if (said.requests === 0) {
      // Nothing was sent, so the state of the destination is still unknown.
      this.#breaker = breakerUnasked(this.#breaker);
      return false;
    }
    const before = this.#breaker;
    const nowMs = performance.now();
    if (said.isUp || said.isOverloaded) {
      // A destination that accepts some events and throttles others is up, and gets fewer requests.
      const end = said.isOverloaded ? 'overloaded' : 'well';
      const at = { startedMs, endedMs: nowMs };
      this.#concurrency = adaptConcurrency(this.#concurrency, end, this.#concurrencyMax, at);
    }
    const limits = said.isAccessRefused ? this.#accessLimits : breakerLimits;
    this.#breaker = breakerEnded(before, { ok: said.isUp, startedMs, endedMs: nowMs }, Math.random(), limits);
    if (this.#breaker.kind === 'closed') this.#isAccessRefused = false;
    else if (said.isAccessRefused) this.#isAccessRefused = true;
    if (this.#breaker.kind !== 'open' || before.kind === 'open') return false;
    this.#freshProbeUntilMs = this.#breaker.untilMs + freshProbeMs;
    return true;
  }

  /** The purpose of a request that is made now. */
  get #asking(): LaneChoice['asking'] {
    if (this.isBreakerClosed) return 'as ever';
    return performance.now() < this.#freshProbeUntilMs ? 'a fresh probe' : 'a probe';
  }
}
