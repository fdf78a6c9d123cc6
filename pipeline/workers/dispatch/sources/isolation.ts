import { setTimeout as wait } from 'node:timers/promises';
import type { FrameInFlight } from './frames-in-flight.ts';
import type { Inbox } from './inbox.ts';

export type IsolationOptions = {
  readonly inbox: Pick<Inbox, 'isEmpty' | 'isInFlight'>;
  /** A frame waits this long until nothing else is in flight; then it is taken anyway, in ms. */
  readonly patienceMs: number;
  /** Whether frames of the retry log are taken: otherwise frames in flight may not end. */
  mayTake(): boolean;
};

/** The next suspected frame waits this long for running retries, which may be many one after the other, in ms. */
export const aloneWithinMs = 1_000;
/** How often to check whether frames in flight are done, in ms. */
const lookEveryMs = 5;

/**
 * Isolates frames that are suspected of an earlier dispatcher's death. A suspect is taken only when nothing is in
 * flight, and nothing else is taken until it is done, so that a death in between is its fault. Other waiting frames go
 * before the next suspect.
 */
export class Isolation {
  readonly #options: IsolationOptions;
  #isolated: Promise<void> | undefined;

  constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Calls `take` once no frame is worked on alone. */
  async beside(take: () => void): Promise<void> {
    while (this.#isolated !== undefined) await this.#isolated;
    take();
  }

  /**
   * Calls `take`, which returns the frame that it took, if any, with nothing else in flight; settles when that is done.
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
