import { setTimeout } from 'node:timers/promises';
import { Turns } from '../../workers/worker/turns.ts';

/** A turn is about a millisecond of work here, and as much again for the dispatcher that delivers it. */
const turnEveryMs = 10;

/**
 * What all replays of a process read and write, in turns that they take one after the other, with a pause before each: some
 * ten megabytes a second, however many replays there are. A replay is less urgent than an event that has just
 * happened, and one that is cancelled soon has not put much before its destination.
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
