import { setTimeout as wait } from 'node:timers/promises';
import type { FrameInFlight } from './frames-in-flight.ts';
import type { Inbox } from './inbox.ts';

export type IsolationOptions = {
  readonly inbox: Pick<Inbox, 'isEmpty' | 'isInFlight'>;
  /** How long a frame waits until nothing else is in flight; then it is taken all the same, in ms. */
  readonly patienceMs: number;
  /** Whether frames of the retry log are taken: what is in flight may not end otherwise. */
  mayTake(): boolean;
};

/** How long the next frame that is watched waits for retries under way, which may be many one after the other, in ms. */
export const aloneWithinMs = 1_000;
/** How often to look whether what is in flight is done, in ms. */
const lookEveryMs = 5;

/**
 * Has frames that are suspected of what befell an earlier dispatcher worked on each by itself: it is taken when nothing is
 * in flight, and nothing else is taken until it is done, so that what dies meanwhile died of it. Those that wait go first
 * before the next of them.
 */
export class Isolation {
  readonly #options: IsolationOptions;
  #isolated: Promise<void> | undefined;

  constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Calls `take` once no frame is worked on by itself. */
  async beside(take: () => void): Promise<void> {
    while (this.#isolated !== undefined) await this.#isolated;
    take();
  }

  /** Calls `take`, which returns what it has taken if it has, with nothing else in flight; settles when that is done. */
  async alone(take: () => FrameInFlight | undefined): Promise<void> {
    while (this.#isolated !== undefined) await this.#isolated;
    const isolated = this.#isolate(take).finally(() => {
      this.#isolated = undefined;
    });
    this.#isolated = isolated;
    await isolated;
  }

  async #isolate(take: () => FrameInFlight | undefined): Promise<void> {
    const { inbox, patienceMs, mayTake } = this.#options;
    const sinceMs = performance.now();
    while (!inbox.isEmpty && mayTake() && performance.now() - sinceMs < patienceMs) await wait(lookEveryMs);
    const taken = take();
    if (taken === undefined) return;
    while (inbox.isInFlight(taken) && mayTake()) await wait(lookEveryMs);
  }
}
