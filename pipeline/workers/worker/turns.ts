import { setImmediate } from 'node:timers/promises';

/** The work of one turn, in characters read or written: about a millisecond, at some nanoseconds per character. */
const turnUnitsMax = 128 * 1_024;

/** Cost of reading or writing an event, in the same units, in addition to its characters. */
export const eventUnits = 512;

/**
 * Divides an actor's work into turns, so that the other actors of its thread wait for one turn and not for all of its
 * work. Work is counted, not timed: the same work has the same turns on every machine.
 */
export class Turns {
  readonly #begin: () => void;
  readonly #waitTurn: () => Promise<void>;
  #spent = 0;

  /**
   * `begin` is called at the beginning of each turn except the first. `waitTurn` resolves when the next turn may begin;
   * by default in the next round of the event loop.
   */
  constructor(begin: () => void, waitTurn: () => Promise<void> = () => setImmediate()) {
    this.#begin = begin;
    this.#waitTurn = waitTurn;
  }

  /** Counts work. Once the turn is over, returns a promise: await it, so that other actors go first. */
  spend(units: number): Promise<void> | undefined {
    this.#spent += units;
    if (this.#spent < turnUnitsMax) return undefined;
    this.#spent = 0;
    return this.#waitTurn().then(this.#begin);
  }
}
