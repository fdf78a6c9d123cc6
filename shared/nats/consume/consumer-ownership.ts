import { setTimeout as wait } from 'node:timers/promises';
import { retryDelayMs } from './consumer-control.ts';
import type { ConsumerControl } from './consumer-control.ts';
import { ConsumerTakenError } from './consumers.ts';
import type { RunState } from './run-state.ts';

/** Other processes consider a silent process dead after this time at the earliest, in ms. */
const standstillMs = 1_500;

/**
 * Whether the consumer still belongs to this reader. After a standstill of the process, ownership is uncertain until
 * the server confirms it.
 */
export class ConsumerOwnership {
  readonly #control: Pick<ConsumerControl, 'confirm'>;
  readonly #state: Pick<RunState, 'isClosed' | 'takenOver' | 'lose'>;
  readonly #now: () => number;
  #lookedAtMs: number;
  #isConfirmed = true;
  #confirming: Promise<void> | undefined;

  /** `now` is a monotonic clock, in ms. */
  constructor(
    control: Pick<ConsumerControl, 'confirm'>,
    state: Pick<RunState, 'isClosed' | 'takenOver' | 'lose'>,
    now: () => number = () => performance.now(),
  ) {
    this.#control = control;
    this.#state = state;
    this.#now = now;
    this.#lookedAtMs = now();
  }

  get isCurrent(): boolean {
    if (this.#now() - this.#lookedAtMs > standstillMs) this.#isConfirmed = false;
    return this.#isConfirmed && this.#state.takenOver === undefined;
  }

  /** Called twice a second while the process runs: a longer gap is a standstill. */
  look(): void {
    const { isCurrent } = this;
    this.#lookedAtMs = this.#now();
    if (!isCurrent) this.confirm().catch(() => undefined);
  }

  /**
   * Asks the server if ownership is uncertain, and resolves only once the server has confirmed it. If ownership is
   * lost, ends the reader and throws ConsumerTakenError. If the request fails, an open reader asks again; a closed
   * reader throws the error of the request.
   */
  confirm(): Promise<void> {
    const { takenOver } = this.#state;
    if (takenOver !== undefined) return Promise.reject(takenOver);
    if (this.isCurrent) return Promise.resolve();
    return (this.#confirming ??= this.#ask().finally(() => {
      this.#confirming = undefined;
    }));
  }

  async #ask(): Promise<void> {
    for (;;) {
      try {
        await this.#control.confirm();
        this.#lookedAtMs = this.#now();
        this.#isConfirmed = true;
        return;
      } catch (error) {
        if (error instanceof ConsumerTakenError) {
          this.#state.lose(error);
          throw error;
        }
        if (this.#state.isClosed) throw error;
        await wait(retryDelayMs);
      }
    }
  }
}
