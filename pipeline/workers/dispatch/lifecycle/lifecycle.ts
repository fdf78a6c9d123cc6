import { withDeadline } from '../../../../shared/runtime/deadline.ts';
import { Wakeup } from '../../worker/wakeup.ts';

/** Why a dispatcher ended, unless it failed. */
export type DispatcherEnd = 'stopped' | 'order changed';

/** States in their order; none is entered twice. */
type State =
  | 'running'
  /** The dispatcher takes no more events, sends the batches it has begun, and waits for answers. */
  | 'draining'
  /** The dispatcher sends nothing more, and stores settled events. */
  | 'closing'
  | 'ended';

export type LifecycleSteps = {
  /** Takes no more events. Called once, when draining begins. */
  drain(): Promise<void>;
  /** Ends the work in progress and stores settled events. Never rejects. */
  close(): Promise<void>;
};

/** The states of a dispatcher from running to its end. */
export class Lifecycle {
  /** Rejects with the error that ended the dispatcher. */
  readonly done: Promise<DispatcherEnd>;
  readonly #drained = new Wakeup();
  readonly #steps: LifecycleSteps;
  #state: State = 'running';
  #draining: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #resolve: (end: DispatcherEnd) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(steps: LifecycleSteps) {
    this.#steps = steps;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDraining(): boolean {
    return this.#state === 'draining';
  }

  get isAtWork(): boolean {
    return this.#state === 'running' || this.#state === 'draining';
  }

  /** Drains for at most `deadlineMs`, then closes. A second call does not extend the wait, but may shorten it. */
  async end(end: DispatcherEnd, deadlineMs: number): Promise<void> {
    if (this.#state === 'running') {
      this.#state = 'draining';
      this.#draining = Promise.all([this.#drained.wait(deadlineMs), this.#steps.drain()]);
      await this.#draining;
    } else {
      await withDeadline(this.#draining, deadlineMs);
    }
    await this.#close(() => this.#resolve(end));
  }

  /** Call when draining is complete: everything that was sent is settled. */
  drained(): void {
    this.#drained.ring();
  }

  readonly fail = (error: unknown): void => {
    void this.#close(() => this.#reject(error));
  };

  /** Closes once: the first call decides how the dispatcher ends. */
  #close(settle: () => void): Promise<void> {
    this.#closing ??= this.#closeOnce(settle);
    return this.#closing;
  }

  async #closeOnce(settle: () => void): Promise<void> {
    this.#state = 'closing';
    this.#drained.ring();
    await this.#steps.close();
    this.#state = 'ended';
    settle();
  }
}
