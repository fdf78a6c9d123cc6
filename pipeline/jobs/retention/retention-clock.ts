/** The times of the wall clock and of the monotonic clock, both in ms. */
export type ClockReading = { readonly wallMs: number; readonly monotonicMs: number };

/** Further than this a clock that runs well does not go ahead between two rounds. */
const jumpMaxMs = 3_600_000;

/**
 * The time that retention goes by. A clock that is set forward, or a machine that was suspended, makes everything look old: it is
 * reported, and time goes on from before the jump. It is the wall clock's again once that is back, or in the next process.
 */
export function createRetentionClock(onJump: (jumpMs: number) => void): (reading: ClockReading) => number {
  let last: ClockReading | undefined;
  let isReported = false;
  return ({ wallMs, monotonicMs }) => {
    const expectedMs = last === undefined ? wallMs : last.wallMs + (monotonicMs - last.monotonicMs);
    const hasJumped = wallMs - expectedMs > jumpMaxMs;
    if (hasJumped && !isReported) onJump(wallMs - expectedMs);
    isReported = hasJumped;
    const nowMs = hasJumped ? expectedMs : wallMs;
    last = { wallMs: nowMs, monotonicMs };
    return nowMs;
  };
}
