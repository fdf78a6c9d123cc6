import { RateLimit } from '../../limits/index.ts';

export type PacedChangesOptions<Change> = {
  /** Takes a change into use. What it takes of the thread's time decides when the next one of its key may. */
  apply(change: Change): void;
  /** Of the thread's time that changes of one key may take, between 0 and 1. */
  readonly share: number;
  /** What changes of one key may take at once before any has to wait, in ms: a few in a row cost little. */
  readonly burstMs: number;
  /** The longest that a change waits, in ms. */
  readonly waitMaxMs: number;
  /** In ms, never going back. Default the clock of the process. */
  readonly now?: () => number;
};

/** Changes of many keys, of each of which only the newest matters. */
export type PacedChanges<Change> = {
  /** Applies it at once, or later where its key has had its share of the thread; the newest of those that wait is applied. */
  offer(key: string, revision: number, change: Change): void;
  /** The oldest revision of a key whose newest waits; undefined where none does. */
  readonly waitingFrom: number | undefined;
  /** Waiting changes are dropped. */
  stop(): void;
};

type Pause<Change> = {
  readonly timer: NodeJS.Timeout;
  waiting: { readonly fromRevision: number; readonly change: Change } | undefined;
};

/** One who changes something large again and again has it applied as often as leaves the thread to the others. */
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
