import { setTimeout } from 'node:timers/promises';
import { Turns } from '../../workers/worker/turns.ts';

/**
 * Pause before a turn, in ms. A turn takes about 1 ms of work here, and as much in the dispatcher that delivers its
 * events.
 */
const turnEveryMs = 10;

/**
 * Limits how much all replays of a process together read and write: they take turns, with a pause before each turn,
 * which allows about ten megabytes per second. Replays are less urgent than new events, and a replay that is soon
 * cancelled has queued little for its destination.
 */
export class ReplayTurns {
  readonly #pause: () => Promise<unknown>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(pause: () => Promise<unknown> = () => setTimeout(turnEveryMs)) {
    this.#pause = pause;
  }

  /** The turns of one replay. */
  ofReplay(): Turns {
    return new Turns(
      () => undefined,
      async () => {
        this.#last = this.#last.then(this.#pause);
        await this.#last;
      },
    );
  }
}
