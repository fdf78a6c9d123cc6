import { setTimeout as wait } from 'node:timers/promises';
import type { FrameInFlight } from './frames-in-flight.ts';
import type { Inbox } from './inbox.ts';

export type IsolationOptions = {
  readonly inbox: Pick<Inbox, 'isEmpty' | 'isInFlight'>;
  /** How long a suspected frame waits until nothing else is in flight, in ms; after that it is taken anyway. */
  readonly patienceMs: number;
  /**
   * Whether frames of the retry log are taken. If not, isolation does not wait for frames in flight, which might never
   * end.
   */
  mayTake(): boolean;
};

/** How long a suspected frame waits for retries in flight, in ms; there may be many, one after the other. */
export const aloneWithinMs = 1_000;
/** Interval at which frames in flight are checked, in ms. */
const lookEveryMs = 5;

/**
 * Isolates frames that are suspected of having caused an earlier dispatcher's death. A suspected frame is taken only
 * when nothing is in flight, and nothing else is taken until it is done; if the thread dies in between, the suspected
 * frame is the cause. Other waiting frames are taken before the next suspected one.
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
   * Calls `take` once nothing else is in flight. `take` returns the frame that it took, if any. Settles when that frame
   * is done.
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
