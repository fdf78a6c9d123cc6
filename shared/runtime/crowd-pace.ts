import { cpuUseOf, ownTaskId } from './cpu-use.ts';
import type { CpuUse } from './cpu-use.ts';

export type CrowdPaceSettings = {
  /** Time from the start of one to the start of the next while processors are free, in ms. */
  readonly usualMs: number;
  /** The same while this thread hardly gets one, in ms. */
  readonly crowdedMs: number;
};

/** How far apart things are to be begun. */
export type Pace = {
  /** Time from the start of one to the start of the next as things are now, by `performance.now()`, in ms. */
  msAt(nowMs: number): number;
};

/** How often to look at most, in ms. */
const lookEveryMs = 500;
/** Of the time in which a thread could run it waits so much for a processor before the distance grows. */
const crowdedFrom = 0.45;
/** With so much it is as long as it becomes. */
const crowdedAt = 0.6;
/** What the last look weighs against all before it: one is short, and moves much by itself. */
const newestShare = 0.3;
/** A thread that ran less between two looks says nothing of the processors. */
const ranMsMin = 10;

/**
 * How far apart a thread begins what costs a wake, a sync or a query however few events it is about. Where all processors
 * are taken, what goes sooner only waits elsewhere, and has everybody's work wait with it. So the share of the time in which
 * this thread could run and was given no processor decides. It looks when it is asked: an idle process is not woken for it.
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
