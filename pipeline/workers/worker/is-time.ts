/** Whether a Date can hold the time, in ms since the epoch: its range is smaller than that of a number. */
export function isTime(timeMs: unknown): timeMs is number {
  return typeof timeMs === 'number' && Math.abs(timeMs) <= 8.64e15;
}
