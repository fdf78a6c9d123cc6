import { every } from './every.ts';

/** Jumps of the wall clock against the monotonic clock, which cannot be set. */
export type ClockWatch = {
  readonly jumps: number;
  /** The last jump, in ms: negative if the clock was set back, 0 before the first jump. */
  readonly lastJumpMs: number;
  stop(): void;
};

const everyMs = 1_000;
/** Smaller changes of the clock are not counted. */
const jumpMinMs = 1_000;

/**
 * Compares the two clocks each second and reports every change of a second or more. Waits in this process use the
 * monotonic clock; times in data (of events, health, expiry) come from the wall clock, and are wrong while that clock
 * is wrong.
 */
export function watchClock(onJump: (jumpMs: number) => void): ClockWatch {
  let apartMs = Date.now() - performance.now();
  let jumps = 0;
  let lastJumpMs = 0;
  const looking = every(everyMs, () => {
    const nowApartMs = Date.now() - performance.now();
    const jumpMs = nowApartMs - apartMs;
    apartMs = nowApartMs;
    if (Math.abs(jumpMs) < jumpMinMs) return;
    jumps += 1;
    lastJumpMs = jumpMs;
    onJump(jumpMs);
  });
  return {
    get jumps() {
      return jumps;
    },
    get lastJumpMs() {
      return lastJumpMs;
    },
    stop: () => void looking.stop(),
  };
}

/** Reports a jump in the process's log. */
export function logJump(logger: { warn(fields: object, message: string): void }): (jumpMs: number) => void {
  return (jumpMs) => {
    const seconds = Math.round(jumpMs) / 1_000;
    logger.warn({ seconds }, jumpMs < 0 ? 'the wall clock was set back' : 'the wall clock was set forward');
  };
}
