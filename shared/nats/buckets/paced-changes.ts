import { RateLimit } from '../../limits/index.ts';

export type PacedChangesOptions<Change> = {
  /** Applies a change. The time this takes decides when the next change of its key is due. */
  apply(change: Change): void;
  /** Fraction of the thread's time that changes of one key may take, from 0 to 1. */
  readonly share: number;
  /** Time that changes of one key may take before the next one waits, in ms. */
  readonly burstMs: number;
  /** The longest that a change waits, in ms. */
  readonly waitMaxMs: number;
  /** Monotonic clock, in ms. Default: the process's. */
  readonly now?: () => number;
};

/** Applies changes of many keys; only the newest change of a key matters. */
export type PacedChanges<Change> = {
  /**
   * Applies the change now, or later if its key is over its limit. Only the newest of a key's waiting changes is
   * applied.
   */
  offer(key: string, revision: number, change: Change): void;
  /** The oldest revision among the waiting changes; undefined if none waits. */
  readonly waitingFrom: number | undefined;
  /** Drops waiting changes. */
  stop(): void;
};

type Pause<Change> = {
  readonly timer: NodeJS.Timeout;
  waiting: { readonly fromRevision: number; readonly change: Change } | undefined;
};

/**
 * Limits the thread's time for each key, so that one account that publishes large configurations repeatedly does not
 * stop the others.
 */
export function createPacedChanges<Change>(options: PacedChangesOptions<Change>): PacedChanges<Change> {
  const { apply, share, burstMs, waitMaxMs, now = () => performance.now() } = options;
  const spent = new RateLimit({ perS: share * 1_000, burst: burstMs }, now);
  const pauses = new Map<string, Pause<Change>>();
  const work = (key: string, change: Change): void => {
    const startedMs = now();
    try {
      apply(change);
    } finally {
      spent.charge(key, now() - startedMs);
      const pauseMs = Math.min(waitMaxMs, spent.waitMs(key));
      if (pauseMs >= 1) pauses.set(key, { timer: setTimeout(() => end(key), pauseMs), waiting: undefined });
    }
  };
  const end = (key: string): void => {
    const waiting = pauses.get(key)?.waiting;
    pauses.delete(key);
    if (waiting !== undefined) work(key, waiting.change);
  };
  return {
    offer(key, revision, change) {
      const pause = pauses.get(key);
      if (pause === undefined) work(key, change);
      else pause.waiting = { fromRevision: pause.waiting?.fromRevision ?? revision, change };
    },
    get waitingFrom() {
      const waiting = [...pauses.values()].flatMap((pause) => pause.waiting?.fromRevision ?? []);
      return waiting.length === 0 ? undefined : Math.min(...waiting);
    },
    stop() {
      for (const { timer } of pauses.values()) clearTimeout(timer);
      pauses.clear();
    },
  };
}
