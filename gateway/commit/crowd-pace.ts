import { cpuUseOf, ownTaskId } from '../../shared/runtime/cpu-use.ts';
import type { CpuUse } from '../../shared/runtime/cpu-use.ts';

export type CrowdPaceSettings = {
  /** Interval from start to start while processors are free, in ms. */
  readonly usualMs: number;
  /** Interval from start to start while this thread hardly gets a processor, in ms. */
  readonly crowdedMs: number;
};

/** Minimum interval between the starts of two tasks. */
export type Pace = {
  /** Current interval from start to start, in ms; `nowMs` is from `performance.now()`. */
  msAt(nowMs: number): number;
};

/** Minimum interval between two measurements, in ms. */
const lookEveryMs = 500;
/** The interval grows once a thread waits for a processor for more than this fraction of its runnable time. */
const crowdedFrom = 0.45;
/** Fraction at which the interval is longest. */
const crowdedAt = 0.6;
/** Weight of the last measurement, which alone is short and noisy, against earlier ones. */
const newestShare = 0.3;
/** If the thread ran for less than this between two measurements, the sample is too small, and the fraction is 0. */
const ranMsMin = 10;

/**
 * Interval between tasks that cost a wake-up, a sync or a query however few events they handle. When all processors are
 * busy, an earlier start only moves the wait elsewhere and delays all other work. So the interval depends on the
 * fraction of time in which this thread was ready but had no processor. The fraction is measured when the interval is
 * read, so that an idle process is not woken.
 */
export class CrowdPace implements Pace {
  readonly #settings: CrowdPaceSettings;
  readonly #use: () => CpuUse;
  #last: CpuUse;
  #lookedAtMs = performance.now();
  #waitShare = 0;

  /** By default measures the thread that calls the constructor. */
  constructor(settings: CrowdPaceSettings, use: () => CpuUse = useOfOwnThread()) {
    this.#settings = settings;
    this.#use = use;
    this.#last = use();
  }

  msAt(nowMs: number): number {
    if (nowMs - this.#lookedAtMs >= lookEveryMs) this.#look(nowMs);
    const { usualMs, crowdedMs } = this.#settings;
    const crowd = Math.min(1, Math.max(0, (this.#waitShare - crowdedFrom) / (crowdedAt - crowdedFrom)));
    return usualMs + Math.max(0, crowdedMs - usualMs) * crowd;
  }

  #look(nowMs: number): void {
    this.#lookedAtMs = nowMs;
    const now = this.#use();
    const [ranMs, waitedMs] = [now.ranMs - this.#last.ranMs, now.waitedMs - this.#last.waitedMs];
    this.#last = now;
    const share = ranMs < ranMsMin ? 0 : waitedMs / (ranMs + waitedMs);
    this.#waitShare += (share - this.#waitShare) * newestShare;
  }
}

function useOfOwnThread(): () => CpuUse {
  const id = ownTaskId();
  return () => cpuUseOf(id);
}
