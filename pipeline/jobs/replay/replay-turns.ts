import { setImmediate } from 'node:timers/promises';
import { Turns } from '../../workers/worker/turns.ts';

/**
 * What all replays of a process read and write, in turns that they take one after the other: one in a round of the event
 * loop, however many replays there are. The main thread they run on has others to answer, and a core that it may share
 * with those who deliver.
 */
export class ReplayTurns {
  #last: Promise<void> = Promise.resolve();

  /** The turns of one replay. */
  ofReplay(): Turns {
    return new Turns(
      () => undefined,
      () => (this.#last = this.#last.then(() => setImmediate())),
    );
  }
}
