import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';
import type { FrameOutcome } from './frame.ts';

/** How long the gateway is not ready after the log refused a publish, in ms. */
const refusalRememberedMs = 5_000;

/**
 * Whether the log accepts frames. The gate closes when a publish was not answered or decided in time, since the waiting
 * frames would only time out one after the other. The gate opens again when the log answers any request.
 */
export class LogGate {
  readonly #isConnected: () => boolean;
  readonly #closed = new Set<() => void>();
  #stalled = false;
  #refusal: { readonly reason: FrameOutcome; readonly atMs: number } | undefined;
  readonly failures = new Map<FrameOutcome, number>();

  constructor(isConnected: () => boolean) {
    this.#isConnected = isConnected;
  }

  get open(): boolean {
    return !this.#stalled && this.#isConnected();
  }

  /** Calls `listener` each time the gate closes. */
  onClose(listener: () => void): void {
    this.#closed.add(listener);
  }

  noteStored(): void {
    this.#stalled = false;
    this.#refusal = undefined;
  }

  /** Call when the log answered a request other than a publish. */
  noteAlive(): void {
    this.#stalled = false;
  }

  noteFailure(reason: PublishFailure | 'stalled'): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
    this.#refusal = { reason, atMs: performance.now() };
    if (reason === 'timeout' || reason === 'busy') this.close();
  }

  /** Fails waiting requests and refuses new ones until the log answers again. */
  close(): void {
    this.#stalled = true;
    for (const listener of this.#closed) listener();
  }

  /** Why the log does not accept frames now, for the readiness page. */
  problem(nowMs: number): string | undefined {
    if (!this.#isConnected()) return 'the log is not connected';
    if (this.#stalled) return 'the log does not answer';
    if (this.#refusal === undefined || nowMs - this.#refusal.atMs > refusalRememberedMs) return undefined;
    return `the log refused a frame: ${this.#refusal.reason}`;
  }
}
