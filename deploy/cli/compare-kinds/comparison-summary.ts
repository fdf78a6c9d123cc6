import { generalPath } from './compare-members.ts';
import type { Difference } from './compare-members.ts';
import type { Comparison } from './compare-recording.ts';

/** How often a request member differs in one way, all list indexes together. */
export type MemberCount = { readonly path: string; readonly kind: Difference['kind']; readonly count: number };

export type KindSummary = Readonly<Record<Comparison['verdict'], number>> & {
  readonly kind: string;
  /** Most frequent first. */
  readonly members: readonly MemberCount[];
  /** Number of differences in members beyond `membersMax`. */
  readonly otherDifferences: number;
};

type Counters = Record<Comparison['verdict'], number> & {
  readonly members: Map<string, { path: string; kind: Difference['kind']; count: number }>;
  otherDifferences: number;
};

/** Maximum number of members counted one by one for a kind, because property names are unbounded. */
const membersMax = 500;

/** Sums comparisons by kind. */
export function createSummary() {
  const kinds = new Map<string, Counters>();
  return {
    add(kind: string, { verdict, differences }: Comparison): void {
      const counters = kinds.get(kind) ?? newCounters();
      kinds.set(kind, counters);
      counters[verdict] += 1;
      for (const difference of differences) countMember(counters, difference);
    },
    kinds: (): readonly KindSummary[] =>
      [...kinds]
        .map(([kind, { members, ...counts }]) => ({
          kind,
          ...counts,
          members: [...members.values()].toSorted((a, b) => b.count - a.count),
        }))
        .toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
  };
}

const newCounters = (): Counters => ({
  same: 0,
  differs: 0,
  'only-there': 0,
  'only-here': 0,
  members: new Map(),
  otherDifferences: 0,
});

function countMember(counters: Counters, { kind, path: own }: Difference): void {
  const path = generalPath(own);
  const key = `${kind} ${path}`;
  const known = counters.members.get(key);
  if (known !== undefined) known.count += 1;
  else if (counters.members.size < membersMax) counters.members.set(key, { path, kind, count: 1 });
  else counters.otherDifferences += 1;
}
