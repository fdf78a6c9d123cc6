import { cpuUseOf, ownTaskId } from '../../shared/runtime/cpu-use.ts';
import type { CpuUse } from '../../shared/runtime/cpu-use.ts';

export type CrowdPaceSettings = {
  /** Time from the start of one to the start of the next while processors are free, in ms. */
  readonly usualMs: number;
  /** The same while this thread hardly gets one, in ms. */
  readonly crowdedMs: number;
};

/** Minimum distance between the starts of two tasks. */
export type Pace = {
  /** Current time from the start of one to the start of the next, at a time of `performance.now()`, in ms. */
  msAt(nowMs: number): number;
};

/** Minimum interval between two measurements, in ms. */
const lookEveryMs = 500;
/** Fraction of its runnable time that a thread waits for a processor before the distance grows. */
const crowdedFrom = 0.45;
/** Fraction at which the distance is longest. */
const crowdedAt = 0.6;
/** Weight of the last measurement against earlier ones: a single one is short and noisy. */
const newestShare = 0.3;
/** A thread that ran less than this between two measurements is no evidence about the processors. */
const ranMsMin = 10;

/**
 * Distance between tasks that cost a wake-up, a sync or a query however few events they handle. When all processors are
 * busy, an earlier start only moves the wait elsewhere and delays all other work. So the fraction of time in which this
 * thread was ready but had no processor decides. It measures when it is read: an idle process is not woken for it.
 */
export class CrowdPace implements Pace {
  readonly #settings: CrowdPaceSettings;
  readonly #use: () => CpuUse;
  #last: CpuUse;
  #lookedAtMs = performance.now();
  #waitShare = 0;

  /** Of the thread that makes it. */
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
