import { Wakeup } from '../../worker/wakeup.ts';

/** How a dispatcher ends, unless it fails. */
export type DispatcherEnd = 'stopped' | 'order changed';

/** It goes from one to the next, and never back. */
type State =
  | 'running'
  /** Takes nothing, sends what it has begun, and waits for answers. */
  | 'draining'
  /** Sends nothing, and stores what is settled. */
  | 'closing'
  | 'ended';

export type LifecycleSteps = {
  /** Takes nothing more. Called once, at the begin of draining. */
  drain(): Promise<void>;
  /** Ends what is under way and stores what is settled. Never rejects. */
  close(): Promise<void>;
};

/** The way of a dispatcher from running to its end. */
export class Lifecycle {
  /** Rejects when an error ended it. */
  readonly done: Promise<DispatcherEnd>;
  readonly #drained = new Wakeup();
  readonly #steps: LifecycleSteps;
  #state: State = 'running';
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

  /** Drains for at most `deadlineMs`, and closes. Called again it waits no longer. */
  async end(end: DispatcherEnd, deadlineMs: number): Promise<void> {
    if (this.#state === 'running') {
      this.#state = 'draining';
      await Promise.all([this.#drained.wait(deadlineMs), this.#steps.drain()]);
    }
    await this.#close(() => this.#resolve(end));
  }

  /** All that was drained is settled. */
  drained(): void {
    this.#drained.ring();
  }

  readonly fail = (error: unknown): void => {
    void this.#close(() => this.#reject(error));
  };

  /** The first call decides how it ends. */
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
