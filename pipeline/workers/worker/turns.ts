import { setImmediate } from 'node:timers/promises';

/** What an actor may do in one go, in characters looked at or written, some nanoseconds each: about a millisecond. */
const turnUnitsMax = 128 * 1_024;

/** What reading or writing an event costs beside its characters, in the same units. */
export const eventUnits = 512;

/**
 * Divides an actor's work into turns, so that the other actors of its thread wait for a turn of it and not for all it has
 * to do. What is done is counted, not measured: the same work has the same turns on every machine.
 */
export class Turns {
  readonly #begin: () => void;
  readonly #waitTurn: () => Promise<void>;
  #spent = 0;

  /** `begin` is called at the beginning of each turn but the first. `waitTurn` says when that is; the next round by default. */
  constructor(begin: () => void, waitTurn: () => Promise<void> = () => setImmediate()) {
    this.#begin = begin;
    this.#waitTurn = waitTurn;
  }

  /** Something was done. A promise once the turn is over, to be waited for: the others go first. */
  spend(units: number): Promise<void> | undefined {
    this.#spent += units;
    if (this.#spent < turnUnitsMax) return undefined;
    this.#spent = 0;
    return this.#waitTurn().then(this.#begin);
  }
}
