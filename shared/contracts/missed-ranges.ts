/**
 * A range of events of an account's log that a destination skipped: the times between which they were resolved, in ms
 * since the epoch (the first inclusive), and their number. The destination's rules were not applied to these events,
 * and might have excluded some of them.
 */
export type MissedRange = readonly [fromMs: number, toMs: number, events: number];

/**
 * Why events were skipped. `retention`: they waited too long, or exceeded the account's quota of EVENTS.
 * `position_lost`: the position of the destination was lost. `event_removed`: EVENTS no longer has the event of a
 * retry. `dead_letters_full`: there was no room for more dead letters.
 */
export const skipReasons = ['retention', 'position_lost', 'event_removed', 'dead_letters_full'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Skipped ranges by their reason. */
export type SkippedRanges = { readonly [Reason in SkipReason]?: readonly MissedRange[] };

/** Ranges with a gap of at most this between them are joined, in ms. */
const joinMs = 600_000;
/** Maximum number of ranges: if there are more, the closest neighbours are joined. */
const rangesMax = 16;

/** Joins the ranges of all readers, oldest first, and leaves out ranges that ended before `sinceMs`. Pure. */
export function joinMissed(ranges: readonly MissedRange[], sinceMs = -Infinity): readonly MissedRange[] {
  const joined: MissedRange[] = [];
  for (const range of ranges.filter(([, toMs]) => toMs > sinceMs).toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && range[0] - last[1] <= joinMs) joined[joined.length - 1] = together(last, range);
    else joined.push(range);
  }
  while (joined.length > rangesMax) {
    const gaps = joined.slice(1).map(([fromMs], index) => fromMs - (joined[index]?.[1] ?? 0));
    const at = gaps.indexOf(Math.min(...gaps));
    const [first, second] = joined.slice(at, at + 2);
    if (first === undefined || second === undefined) break;
    joined.splice(at, 2, together(first, second));
  }
  return joined;
}

/** Joins skipped ranges by reason. Pure. */
export function joinSkipped(all: readonly SkippedRanges[], sinceMs = -Infinity): SkippedRanges {
  const joined = skipReasons.map(
    (reason) =>
      [
        reason,
        joinMissed(
          all.flatMap((ranges) => ranges[reason] ?? []),
          sinceMs,
        ),
      ] as const,
  );
  return Object.fromEntries(joined.filter(([, ranges]) => ranges.length > 0));
}

const together = (a: MissedRange, b: MissedRange): MissedRange => [
  Math.min(a[0], b[0]),
  Math.max(a[1], b[1]),
  a[2] + b[2],
];
