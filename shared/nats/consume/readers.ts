import { every } from '../../runtime/every.ts';
import type { Periodic } from '../../runtime/every.ts';
import type { LogConnection } from '../connection/connection.ts';
import { pullExpiresMaxMs, pullExpiresMs } from './consumers.ts';
import { PullTurns } from './pull-turns.ts';
import type { PullTurn } from './pull-turns.ts';

/** What one reader of a consumer has of the others of its connection. */
export type Reader = {
  /** How long its pull requests wait at the server, in ms. */
  readonly pullExpiresMs: number;
  leave(): void;
};

const lookEveryMs = 500;
/** Pull requests a second that readers of one connection, of whom there are many, make while nothing comes. */
const pullsPerS = 100;

const readers = new WeakMap<LogConnection, Readers>();

/** Those who read consumers over a connection. */
export function readersOf(connection: LogConnection): Readers {
  const known = readers.get(connection);
  if (known !== undefined) return known;
  const made = new Readers();
  readers.set(connection, made);
  return made;
}

/**
 * The readers of consumers over one connection. They have one timer for all of them; and those of which there may be
 * thousands have pull requests that wait for longer the more they are, since each that runs out costs both sides as much
 * as a message does.
 */
export class Readers {
  readonly #looks = new Set<() => void>();
  readonly #turns = new Map<string, PullTurns>();
  #many = 0;
  #looking: Periodic | undefined;

  /** The turn of one reader among those of its subject: `pull` is called when it may ask. */
  takeTurns(stream: string, subject: string, pull: () => void): PullTurn {
    const key = `${stream} ${subject}`;
    const turns = this.#turns.get(key) ?? new PullTurns();
    this.#turns.set(key, turns);
    const turn = turns.join(pull);
    return {
      ...turn,
      leave: () => {
        turn.leave();
        if (turns.size === 0 && this.#turns.get(key) === turns) this.#turns.delete(key);
      },
    };
  }

  /** `look` is called every half second. */
  add(isOneOfMany: boolean, look: () => void): Reader {
    // A function of its own: one and the same may be given twice.
    const own = (): void => look();
    this.#looks.add(own);
    this.#looking ??= every(lookEveryMs, () => {
      for (const each of this.#looks) each();
    });
    if (isOneOfMany) this.#many += 1;
    const expiresMs = (): number => (isOneOfMany ? expiresOfMany(this.#many) : pullExpiresMs);
    return {
      get pullExpiresMs() {
        return expiresMs();
      },
      leave: () => {
        if (!this.#looks.delete(own)) return;
        if (isOneOfMany) this.#many -= 1;
        if (this.#looks.size > 0) return;
        void this.#looking?.stop();
        this.#looking = undefined;
      },
    };
  }
}

/** How long each of so many readers asks for, so that together they ask at most `pullsPerS`, or each every ten seconds. */
const expiresOfMany = (count: number): number =>
  Math.min(pullExpiresMaxMs, Math.max(pullExpiresMs, Math.ceil((count * 1_000) / pullsPerS)));
