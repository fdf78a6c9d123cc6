import { breakerAt, breakerEnded, breakerRoom, breakerStarted, closedBreaker } from './breaker.ts';
import type { BreakerState } from './breaker.ts';
import type { LaneClass } from './visitor-lanes.ts';

/** Whether another request may be started: the limit on those in flight, and the breaker. */
export class RequestGate {
  readonly #concurrency: number;
  readonly #onRetryTime: () => void;
  readonly #inFlight: Record<LaneClass, number> = { fresh: 0, retried: 0 };
  #breaker: BreakerState = closedBreaker;
  #timer: NodeJS.Timeout | undefined;

  /** `onRetryTime` is called when a destination that was down may be asked again. */
  constructor(concurrency: number, onRetryTime: () => void) {
    this.#concurrency = concurrency;
    this.#onRetryTime = onRetryTime;
  }

  get inFlight(): number {
    return this.#inFlight.fresh + this.#inFlight.retried;
  }

  /** Whether the destination is to be left alone for now. */
  get isShut(): boolean {
    this.#breaker = breakerAt(this.#breaker, performance.now());
    return this.#breaker.kind === 'open';
  }

  get isBreakerClosed(): boolean {
    return this.#breaker.kind === 'closed';
  }

  hasRoom(): boolean {
    return !this.isShut && Math.min(this.#concurrency - this.inFlight, breakerRoom(this.#breaker)) >= 1;
  }

  /** Requests of one kind in flight, as a share of all there may be. */
  share(lane: LaneClass): number {
    return this.#inFlight[lane] / this.#concurrency;
  }

  started(lane: LaneClass): void {
    this.#breaker = breakerStarted(this.#breaker);
    this.#inFlight[lane] += 1;
  }

  /** Returns whether this request's end opened the breaker. */
  ended(lane: LaneClass, isUp: boolean): boolean {
    this.#inFlight[lane] -= 1;
    const before = this.#breaker;
    const nowMs = performance.now();
    this.#breaker = breakerEnded(before, isUp, nowMs, Math.random());
    if (this.#breaker.kind !== 'open' || before.kind === 'open') return false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onRetryTime, this.#breaker.untilMs - nowMs + 1);
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
