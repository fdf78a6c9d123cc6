/** Knows up to which revision everything that was seen is applied, whatever order it is applied in. */
export type RevisionGauge = {
  seen(revision: number): void;
  applied(revision: number): void;
  readonly current: number;
};

export function createRevisionGauge(onGrown: (revision: number) => void): RevisionGauge {
  const open = new Set<number>();
  let newest = 0;
  let current = 0;
  return {
    get current() {
      return current;
    },
    seen(revision) {
      open.add(revision);
      newest = Math.max(newest, revision);
    },
    applied(revision) {
      open.delete(revision);
      const upTo = open.size === 0 ? newest : Math.min(...open) - 1;
      if (upTo <= current) return;
      current = upTo;
      onGrown(current);
    },
  };
}
