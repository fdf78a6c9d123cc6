import { every, tickMs } from '../../shared/runtime/every.ts';

export type SilenceWatchOptions = {
  /** How much silence is too much, in ms. */
  readonly silenceMaxMs: number;
  /** For how long in its life the one that is watched wanted to run and could not, in ms. */
  waitedMs(): number;
  /** Called once. */
  onSilent(): void;
};

export type SilenceWatch = { heard(): void; stop(): void };

/**
 * Watches whether somebody who reports regularly still does. What counts is time in which it could have: while this thread
 * stands still as well (a process that is stopped, a machine that swaps) time does not pass, as ticks that were missed are
 * not made up for; nor does it while the one that is watched waits for a processor.
 */
export function watchSilence({ silenceMaxMs, waitedMs, onSilent }: SilenceWatchOptions): SilenceWatch {
  let silentMs = 0;
  let waitedBeforeMs = 0;
  const ticks = every(tickMs, () => {
    if (silentMs === 0) waitedBeforeMs = waitedMs();
    silentMs += tickMs;
    if (silentMs < silenceMaxMs || silentMs - (waitedMs() - waitedBeforeMs) < silenceMaxMs) return;
    void ticks.stop();
    onSilent();
  });
  return {
    heard() {
      silentMs = 0;
    },
    stop: () => void ticks.stop(),
  };
}
