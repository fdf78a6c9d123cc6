/** The times of the wall clock and of the monotonic clock, both in ms. */
export type ClockReading = { readonly wallMs: number; readonly monotonicMs: number };

/** The wall clock has jumped if it gets further ahead of the monotonic clock than this between two rounds, in ms. */
const jumpMaxMs = 3_600_000;

/**
 * The clock of retention. If the wall clock is set forward, or the machine was suspended, all events look old: the jump
 * is reported, and this clock continues as if the jump had not happened. It follows the wall clock again once the wall
 * clock is set back, or after a restart of the process.
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
