import type { ConfigChange } from '../../shared/nats/buckets/config-feed.ts';

/** Computes the newest revision up to which all revisions seen are applied, in whatever order they are applied. */
export type RevisionGauge = {
  readonly current: number;
  /** Begins a reading of CONFIG from its beginning; earlier readings no longer count. */
  begin(): RevisionReading;
};

export type RevisionReading = {
  seen(change: Pick<ConfigChange, 'revision' | 'upTo'>): void;
  applied(revision: number): void;
  /** The reading has seen everything that CONFIG holds. */
  caughtUp(): void;
};

export function createRevisionGauge(onChanged: (revision: number) => void): RevisionGauge {
  let current = 0;
  let newest: RevisionReading | undefined;
  const begin = (): RevisionReading => {
    const open = new Set<number>();
    let upTo = 0;
    const reached = (): number => Math.min(upTo, ...[...open].map((each) => each - 1));
    const set = (revision: number): void => {
      current = revision;
      onChanged(current);
    };
    const reading: RevisionReading = {
      seen(change) {
        open.add(change.revision);
        upTo = Math.max(upTo, change.upTo);
      },
      applied(revision) {
        open.delete(revision);
        if (reading === newest && reached() > current) set(reached());
      },
      caughtUp() {
        // CONFIG was created again: revisions begin at 1, and the applied revisions of the earlier CONFIG no longer
        // count.
        if (reading === newest && upTo < current) set(reached());
      },
    };
    newest = reading;
    return reading;
  };
  return {
    get current() {
      return current;
    },
    begin,
  };
}
