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

/** How long a probe waits for a fresh event to come from the log, once it may be made, in ms. */
const freshProbeMs = 500;

/** What a request that ended says of the destination. */
type GateReport = Pick<Delivered, 'requests' | 'isUp' | 'isOverloaded' | 'isAccessRefused'>;

/** How long a destination that refuses its key or token is left alone: at first, and at most, in ms. */
export type AccessRetry = { readonly minMs: number; readonly maxMs: number };

/** Whether another request may be started: the limit on those in flight, and the breaker. */
export class RequestGate {
  readonly #concurrencyMax: number;
  readonly #accessLimits: BreakerLimits;
  #concurrency: ConcurrencyLimit;
  readonly #inFlight: Record<LaneClass, number> = { fresh: 0, retried: 0 };
  #freshSinceRetried = Infinity;
  #breaker: BreakerState = closedBreaker;
  #isAccessRefused = false;
  /** Until when the next probe is made with a fresh event only, by performance.now(). */
  #freshProbeUntilMs = -Infinity;

  constructor(concurrency: number, accessRetry: AccessRetry) {
    this.#concurrencyMax = concurrency;
    this.#accessLimits = { ...accessBreakerLimits, openMinMs: accessRetry.minMs, openMaxMs: accessRetry.maxMs };
    this.#concurrency = openConcurrency(concurrency);
  }

  /** Requests that may be in flight at a time, as the destination has shown it can take. */
  get concurrency(): number {
    return Math.floor(this.#concurrency.limit);
  }

  get inFlight(): number {
    return this.#inFlight.fresh + this.#inFlight.retried;
  }

  /** Whether the destination is left alone because it refuses its key or token. */
  get isAccessRefused(): boolean {
    return this.#isAccessRefused;
  }

  /** Has a destination that refused its key be asked at once, since it may have another by now. */
  askAgain(): void {
    if (this.#isAccessRefused && this.#breaker.kind === 'open')
      this.#breaker = { ...this.#breaker, untilMs: -Infinity };
  }

  /** Whether the destination is to be left alone for now. */
  get isShut(): boolean {
    if (this.#breaker.kind === 'closed') return false;
    this.#breaker = breakerAt(this.#breaker, performance.now());
    return this.#breaker.kind === 'open';
  }

  /** When more may be asked of it than now though nothing happens, by performance.now(); Infinity if never. */
  get moreAtMs(): number {
    if (this.isBreakerClosed) return Infinity;
    if (this.#breaker.kind === 'open') return this.#breaker.untilMs;
    return this.#asking === 'a fresh probe' ? this.#freshProbeUntilMs : Infinity;
  }

  /** Whether the destination is being tried out, one request at a time, after it was left alone. */
  get isProbing(): boolean {
    return breakerAt(this.#breaker, performance.now()).kind === 'half-open';
  }

  get isBreakerClosed(): boolean {
    return this.#breaker.kind === 'closed';
  }

  /** What the choice of the next lane depends on. */
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

  /** Returns when it was, for `ended`. */
  started(lane: LaneClass): number {
    this.#breaker = breakerStarted(this.#breaker);
    this.#inFlight[lane] += 1;
    this.#freshSinceRetried = lane === 'retried' ? 0 : this.#freshSinceRetried + 1;
    return performance.now();
  }

  /** Returns whether this request's end opened the breaker. */
  ended(lane: LaneClass, startedMs: number, said: GateReport): boolean {
    this.#inFlight[lane] -= 1;
    if (said.requests === 0) {
      // Nothing was sent, so nothing was found out.
      this.#breaker = breakerUnasked(this.#breaker);
      return false;
    }
    const before = this.#breaker;
    const nowMs = performance.now();
    if (said.isUp || said.isOverloaded) {
      // One that takes a part and says it is too much is up, and is asked less.
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

  /** What requests are made for now. */
  get #asking(): LaneChoice['asking'] {
    if (this.isBreakerClosed) return 'as ever';
    return performance.now() < this.#freshProbeUntilMs ? 'a fresh probe' : 'a probe';
  }
}
