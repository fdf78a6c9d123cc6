import type { ConsumerTakenError } from './consumers.ts';

/**
 * Whether a consumer pulls. Pulling begins when the reader first waits for messages, and can be paused and resumed. It
 * ends for good when the reader closes the consumer or another reader takes it over.
 */
export class RunState {
  readonly #onEnd: () => void;
  #phase: 'new' | 'pulling' | 'paused' | 'closed' = 'new';
  #takenOver: ConsumerTakenError | undefined;

  /** `onEnd` is called once, at the end. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get isPulling(): boolean {
    return this.#phase === 'pulling';
  }

  get isClosed(): boolean {
    return this.#phase === 'closed';
  }

  /** Set once another reader has taken over, even if this is found only after the close. */
  get takenOver(): ConsumerTakenError | undefined {
    return this.#takenOver;
  }

  /** Begins to pull, because the reader waits for messages; a paused consumer stays paused. */
  begin(): void {
    if (this.#phase === 'new') this.#phase = 'pulling';
  }

  pause(): void {
    if (this.#phase !== 'closed') this.#phase = 'paused';
  }

  resume(): void {
    if (this.#phase !== 'closed') this.#phase = 'pulling';
  }

  close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#onEnd();
  }

  lose(error: ConsumerTakenError): void {
    this.#takenOver ??= error;
    this.close();
  }
}
