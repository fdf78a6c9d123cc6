/** How far an event's own time may lie from now, in ms. */
export type TimeWindow = { readonly pastMsMax: number; readonly aheadMsMax: number };

/** Whether an event may carry this time. An absent time means now, which is always accepted. */
export function isWithinWindow(time: number | null | undefined, nowMs: number, window: TimeWindow): boolean {
  if (time === undefined || time === null) return true;
  // A number too large for a double arrives as positive or negative Infinity, which fails one comparison.
  return time >= nowMs - window.pastMsMax && time <= nowMs + window.aheadMsMax;
}
