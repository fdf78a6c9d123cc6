import type { LoadRecorder, LoadWindow } from './load-recorder.ts';
import type { WarmUp } from './steady.ts';

export type LoopTiming = WarmUp & {
  readonly measureMs: number;
  /** Ends the measurement early, closing the current window. */
  readonly ending?: AbortSignal;
  /** Called when the warm-up is over. */
  onMeasuring?(): void;
  onWindow?(window: LoadWindow): void;
};

const windowMs = 1_000;

/** Waits until the measurement ends, and closes a window every second. */
export async function measureWindows(recorder: LoadRecorder, timing: LoopTiming): Promise<void> {
  timing.onMeasuring?.();
  const startedMs = performance.now();
  for (let index = 1; ; index += 1) {
    const untilMs = startedMs + Math.min(index * windowMs, timing.measureMs);
    await new Promise((resolve) => setTimeout(resolve, untilMs - performance.now()));
    const window = recorder.closeWindow(performance.now());
    if (window !== undefined) timing.onWindow?.(window);
    if (index * windowMs >= timing.measureMs || timing.ending?.aborted === true) return;
  }
}
