const whole = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** A count: all digits below 100,000, otherwise abbreviated. */
export function showCount(count: number): string {
  return count < 100_000 ? whole.format(count) : compact.format(count);
}

/** A fraction from 0 to 1 as a percentage; a dash if it is null. */
export function showShare(value: number | null): string {
  return value === null ? '–' : share.format(value);
}

/** `1 event`, `2 events`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${showCount(count)} ${count === 1 ? noun : plural}`;
}

/** A duration in ms as text, in a unit that keeps the number short. */
export function showMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
