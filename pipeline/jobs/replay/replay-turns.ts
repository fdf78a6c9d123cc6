import { setTimeout } from 'node:timers/promises';
import { Turns } from '../../workers/worker/turns.ts';

/** Pause before a turn, in ms. A turn is about 1 ms of work here, and as much for the dispatcher that delivers it. */
const turnEveryMs = 10;

/**
 * Limits what all replays of a process read and write. They take turns, with a pause before each turn: together about
 * ten megabytes per second, however many replays there are. A replay is less urgent than new events, and one that is
 * soon cancelled has queued little for its destination.
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
