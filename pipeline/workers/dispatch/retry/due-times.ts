/** When the frames of one tier of the retry log fall due, by the monotonic clock. Ask in the order of the log. */
export type DueTimes = {
  dueAtMs(notBeforeMs: number, clock: { readonly wallMs: number; readonly monotonicMs: number }): number;
};

/**
 * `notBefore` is a time of the wall clock as it was when the frame was written. Nothing waits in a tier for longer than
 * `delayMaxMs`, so a frame that seems to was written before the wall clock was set back, and is due at most
 * `delayMaxMs` after it was first seen. Those behind it keep their distance from it: waited for one after the other
 * they would take that long each.
 */
export function createDueTimes(delayMaxMs: number): DueTimes {
  let first: { readonly notBeforeMs: number; readonly dueAtMs: number } | undefined;
  return {
    dueAtMs(notBeforeMs, { wallMs, monotonicMs }) {
      const waitMs = notBeforeMs - wallMs;
      if (waitMs <= delayMaxMs) {
        first = undefined;
        return monotonicMs + Math.max(0, waitMs);
      }
      const latestMs = monotonicMs + delayMaxMs;
      first ??= { notBeforeMs, dueAtMs: latestMs };
      const dueAtMs = first.dueAtMs + notBeforeMs - first.notBeforeMs;
      return Math.min(Math.max(dueAtMs, monotonicMs), latestMs);
    },
  };
}
