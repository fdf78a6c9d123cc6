import { setTimeout as wait } from 'node:timers/promises';
import type { FrameInFlight } from './frames-in-flight.ts';
import type { Inbox } from './inbox.ts';

export type IsolationOptions = {
  readonly inbox: Pick<Inbox, 'isEmpty' | 'isInFlight'>;
  /** How long a frame waits until nothing else is in flight, in ms; then it is taken anyway. */
  readonly patienceMs: number;
  /** Whether frames of the retry log are taken; if not, frames in flight might never end. */
  mayTake(): boolean;
};

/** How long a suspected frame waits for running retries, in ms; there may be many, one after the other. */
export const aloneWithinMs = 1_000;
/** How often to check whether frames in flight are done, in ms. */
const lookEveryMs = 5;

/**
 * Isolates frames that are suspected of an earlier dispatcher's death. A suspect is taken only when nothing is in
 * flight, and nothing else is taken until it is done, so a death in between is due to the suspect. Other waiting frames
 * are taken before the next suspect.
 */
export class Isolation {
  readonly #options: IsolationOptions;
  #isolated: Promise<void> | undefined;

  constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Calls `take` once no frame is isolated. */
  async beside(take: () => void): Promise<void> {
    while (this.#isolated !== undefined) await this.#isolated;
    take();
  }

  /**
   * Calls `take` once nothing else is in flight; it returns the frame that it took, if any. Settles when that is done.
   */
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
