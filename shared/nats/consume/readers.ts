import { every } from '../../runtime/every.ts';
import type { Periodic } from '../../runtime/every.ts';
import type { LogConnection } from '../connection/connection.ts';
import { pullExpiresMaxMs, pullExpiresMs } from './consumers.ts';
import { PullTurns } from './pull-turns.ts';
import type { PullTurn } from './pull-turns.ts';

/** One of the readers of a connection. */
export type Reader = {
  /** How long the reader's pull requests wait at the server, in ms. */
  readonly pullExpiresMs: number;
  leave(): void;
};

const lookEveryMs = 500;
/**
 * Target for a connection with very many readers: pull requests a second of all readers together while nothing arrives.
 */
const pullsPerS = 100;

const readers = new WeakMap<LogConnection, Readers>();

/** The readers of a connection; the same object for every call. */
export function readersOf(connection: LogConnection): Readers {
  const known = readers.get(connection);
  if (known !== undefined) return known;
  const made = new Readers();
  readers.set(connection, made);
  return made;
}

/**
 * The readers of consumers over one connection, with one timer for all. The more readers there are, the longer each
 * pull request waits, since each expiry costs client and server as much as a message.
 */
export class Readers {
  readonly #looks = new Set<() => void>();
  readonly #turns = new Map<string, PullTurns>();
  #many = 0;
  #looking: Periodic | undefined;

  /** Adds a reader to the turns of its subject. `pull` is called when the reader may pull. */
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

  /** Adds a reader. `look` is called every half second until it leaves. */
  add(isOneOfMany: boolean, look: () => void): Reader {
    // A new function each time, because callers may pass the same function twice.
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

/**
 * How long each request waits, in ms: long enough that all readers together send at most `pullsPerS` requests a second,
 * but ten seconds at most.
 */
const expiresOfMany = (count: number): number =>
  Math.min(pullExpiresMaxMs, Math.max(pullExpiresMs, Math.ceil((count * 1_000) / pullsPerS)));
