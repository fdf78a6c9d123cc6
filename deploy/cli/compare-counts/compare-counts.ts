import type { DayCount } from './read-export.ts';

/** The counts of the control plane. */
export type OurCounts = {
  readonly counts: readonly (DayCount & { readonly isSampled: boolean })[];
  /** Time of the first counted event, in ms since the epoch; undefined if there are none. */
  readonly sinceMs: number | undefined;
  /** When the counts were read. */
  readonly untilMs: number;
};

/** The counts of both sides for one name on one day. */
export type Compared = DayPair & {
  readonly event: string;
  readonly day: string;
  /** `partial`: our side does not have the complete day (yet). */
  readonly verdict: 'same' | 'fewer' | 'more' | 'only-there' | 'only-here' | 'partial';
  readonly isSampled: boolean;
};

type DayPair = { readonly theirs: number; readonly ours: number };

/**
 * Compares both sides by name and day, ordered by day and name; differences within `tolerance`, a fraction of the
 * other side's count, are ignored.
 */
export function compareCounts(theirs: readonly DayCount[], ours: OurCounts, tolerance: number): Compared[] {
  const keys = new Map([...theirs, ...ours.counts].map(({ event, day }) => [keyOf(event, day), { event, day }]));
  const there = new Map(theirs.map(({ event, day, count }) => [keyOf(event, day), count]));
  const here = new Map(ours.counts.map((one) => [keyOf(one.event, one.day), one]));
  const compared = [...keys].map(([key, { event, day }]): Compared => {
    const pair = { theirs: there.get(key) ?? 0, ours: here.get(key)?.count ?? 0 };
    const verdict = isWhole(day, ours) ? judge(pair, tolerance) : 'partial';
    return { event, day, ...pair, verdict, isSampled: here.get(key)?.isSampled ?? false };
  });
  return compared.toSorted((a, b) => (a.day === b.day ? compareText(a.event, b.event) : compareText(a.day, b.day)));
}

const keyOf = (event: string, day: string): string => `${day} ${event}`;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const dayMs = 86_400_000;

function isWhole(day: string, { sinceMs, untilMs }: OurCounts): boolean {
  const startMs = Date.parse(day);
  return sinceMs !== undefined && sinceMs <= startMs && startMs + dayMs <= untilMs;
}

function judge({ theirs, ours }: DayPair, tolerance: number): Exclude<Compared['verdict'], 'partial'> {
  if (Math.abs(ours - theirs) <= theirs * tolerance) return 'same';
  if (ours === 0) return 'only-there';
  if (theirs === 0) return 'only-here';
  return ours < theirs ? 'fewer' : 'more';
}

/** Patterns across several rows. */
export type Remark =
  /** Some days differ, but not all. */
  | { readonly kind: 'other-days'; readonly event: string }
  /** A name on each side that differs only in case or white space. */
  | { readonly kind: 'other-spelling'; readonly theirs: string; readonly ours: string };

/** Finds patterns among the differences that may explain them. */
export function findRemarks(compared: readonly Compared[], tolerance: number): Remark[] {
  const whole = compared.filter(({ verdict }) => verdict !== 'partial');
  const names = [...new Set(whole.map(({ event }) => event))];
  const sums = new Map(names.map((event) => [event, sumOf(whole.filter((one) => one.event === event))]));
  const differs = (event: string): boolean => whole.some((one) => one.event === event && one.verdict !== 'same');
  const otherDays = names
    .filter((event) => differs(event) && judge(sums.get(event) ?? { theirs: 0, ours: 0 }, tolerance) === 'same')
    .map((event): Remark => ({ kind: 'other-days', event }));
  const onlyThere = names.filter((event) => sums.get(event)?.ours === 0);
  const onlyHere = names.filter((event) => sums.get(event)?.theirs === 0);
  const spellings = onlyThere.flatMap((theirs) =>
    onlyHere
      .filter((ours) => plainName(ours) === plainName(theirs))
      .map((ours): Remark => ({ kind: 'other-spelling', theirs, ours })),
  );
  return [...otherDays, ...spellings];
}

const sumOf = (pairs: readonly DayPair[]): DayPair => ({
  theirs: pairs.reduce((sum, { theirs }) => sum + theirs, 0),
  ours: pairs.reduce((sum, { ours }) => sum + ours, 0),
});

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]+/g, '');
