import { setTimeout as pause } from 'node:timers/promises';
import type { AccountPace } from '../worker/account-pace.ts';
import type { Turns } from '../worker/turns.ts';

/** What one account's events may take of the thread for the view while others send too: a view may be late, their events not. */
export const viewPace = { unitsPerMs: 10_000, unitsAtOnce: 128 * 1_024 };

/** Turns of the recorder, with a pause behind those in which an account had more put into the view than its pace allows. */
export class PacedTurns {
  readonly #turns: Turns;
  readonly #pace: AccountPace;
  readonly #pause: (ms: number) => Promise<unknown>;

  constructor(turns: Turns, pace: AccountPace, wait: (ms: number) => Promise<unknown> = pause) {
    this.#turns = turns;
    this.#pace = pace;
    this.#pause = wait;
  }

  /** Something was done for an account. A promise once the turn is over, to be waited for. */
  spend(accountId: string, units: number): Promise<void> | undefined {
    this.#pace.spend(accountId, units);
    return this.#turns.spend(units)?.then(() => this.#keepPace(accountId));
  }

  async #keepPace(accountId: string): Promise<void> {
    const waitMs = this.#pace.waitMs(accountId);
    if (waitMs > 0) await this.#pause(Math.ceil(waitMs));
  }
}
