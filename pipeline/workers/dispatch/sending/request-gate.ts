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
import { adaptConcurrency, openConcurrency } from './concurrency-limit.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { Delivered } from './deliver.ts';
import type { LaneChoice } from './next-lane.ts';
import type { LaneClass } from '../sources/dispatch-item.ts';

/** A probe waits this long for a fresh event from the log, once it may be made, in ms. */
const freshProbeMs = 500;

/** The state of the destination that an ended request showed. */
type GateReport = Pick<Delivered, 'requests' | 'isUp' | 'isOverloaded' | 'isAccessRefused'>;

/** Pauses of a destination that refuses its key or token: the first, and the longest, in ms. */
export type AccessRetry = { readonly minMs: number; readonly maxMs: number };

/** Decides whether another request may be started, by the limit on requests in flight and by the breaker. */
export class RequestGate {
  readonly #concurrencyMax: number;
  readonly #accessLimits: BreakerLimits;
  #concurrency: ConcurrencyLimit;
  readonly #inFlight: Record<LaneClass, number> = { fresh: 0, retried: 0 };
  #freshSinceRetried = Infinity;
  #breaker: BreakerState = closedBreaker;
  #isAccessRefused = false;
  /** Until then the next probe uses a fresh event only, by performance.now(). */
  #freshProbeUntilMs = -Infinity;

  constructor(concurrency: number, accessRetry: AccessRetry) {
    this.#concurrencyMax = concurrency;
    this.#accessLimits = { ...accessBreakerLimits, openMinMs: accessRetry.minMs, openMaxMs: accessRetry.maxMs };
    this.#concurrency = openConcurrency(concurrency);
  }

  /** Requests that may be in flight, adapted to the destination. */
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

  /** Lets a destination that refused its key be probed at once, since the key may have changed. */
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

  /** When more requests may be started although no answer arrives, by performance.now(); Infinity if never. */
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

  /** Requests that may be started now. */
  get room(): number {
    if (this.isShut) return 0;
    return Math.max(0, Math.min(this.concurrency - this.inFlight, breakerRoom(this.#breaker)));
  }

  /** Returns the start time, for `ended`. */
  started(lane: LaneClass): number {
    this.#breaker = breakerStarted(this.#breaker);
    this.#inFlight[lane] += 1;
    this.#freshSinceRetried = lane === 'retried' ? 0 : this.#freshSinceRetried + 1;
    return performance.now();
  }

  /** Returns whether the end of this request opened the breaker. */
  ended(lane: LaneClass, startedMs: number, said: GateReport): boolean {
    this.#inFlight[lane] -= 1;
    if (said.requests === 0) {
      // Nothing was sent, so nothing was learned.
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

  /** The purpose of requests now. */
  get #asking(): LaneChoice['asking'] {
    if (this.isBreakerClosed) return 'as ever';
    return performance.now() < this.#freshProbeUntilMs ? 'a fresh probe' : 'a probe';
  }
}
