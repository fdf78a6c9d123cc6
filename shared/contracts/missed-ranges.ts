/**
 * Events of an account's log that a destination was not sent, since they had waited for too long, or the log had no room for
 * what waits: resolved at or after the first time and before the second, in ms since the epoch, and how many there were. Some of
 * them may not have been for the destination: its rules were not asked.
 */
export type MissedRange = readonly [fromMs: number, toMs: number, events: number];

/** What lies closer together is one range, in ms. */
const joinMs = 600_000;
/** More than this are told of as fewer, wider ones. */
const rangesMax = 16;

/** With one more. Oldest first. Pure. */
export function addMissed(ranges: readonly MissedRange[], added: MissedRange): readonly MissedRange[] {
  return joinMissed([...ranges, added]);
}

/** The ranges of all who have noted some, oldest first, without those that ended before `sinceMs`. Pure. */
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

const together = (a: MissedRange, b: MissedRange): MissedRange => [
  Math.min(a[0], b[0]),
  Math.max(a[1], b[1]),
  a[2] + b[2],
];
