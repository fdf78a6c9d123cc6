import { every, tickMs } from '../../shared/runtime/every.ts';

export type SilenceWatchOptions = {
  /** Silence after which a thread counts as hung, in ms. */
  readonly silenceMaxMs: number;
  /** Total time in which the watched thread was ready to run but had no processor, in ms. */
  waitedMs(): number;
  /** Called once, when the silence has lasted too long. */
  onSilent(): void;
};

export type SilenceWatch = { heard(): void; stop(): void };

/**
 * Watches whether a thread still reports. Only time in which the thread could have reported counts. Time in which the
 * watching thread also stands still (a stopped process, a machine that swaps) does not count, because its timer does
 * not catch up on skipped ticks. Time in which the watched thread waits for a processor does not count either.
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
