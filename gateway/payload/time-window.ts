/** How far an event's own time may lie from now, in ms. */
export type TimeWindow = { readonly pastMsMax: number; readonly aheadMsMax: number };

/** Whether an event may carry this time. Absent means now, and is fine. */
export function isWithinWindow(time: number | null | undefined, nowMs: number, window: TimeWindow): boolean {
  if (time === undefined || time === null) return true;
  // A number too large for a double arrives as Infinity and fails both ways.
  return time >= nowMs - window.pastMsMax && time <= nowMs + window.aheadMsMax;
}
