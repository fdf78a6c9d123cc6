import type { ConfigChange } from '../../shared/nats/buckets/config-feed.ts';

/** The newest revision up to which all revisions seen are applied, in whatever order that happened. */
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
        // CONFIG was recreated: revisions begin at 1 again, and the applied ones no longer count.
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
