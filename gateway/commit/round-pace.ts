import { cpuUseOf, ownTaskId } from '../../shared/runtime/cpu-use.ts';
import type { CpuUse } from '../../shared/runtime/cpu-use.ts';
import { every, tickMs } from '../../shared/runtime/every.ts';
import type { Periodic } from '../../shared/runtime/every.ts';

export type RoundPaceSettings = {
  /** Time from the start of a round to the start of a small one behind it while processors are free, in ms. */
  readonly roundMs: number;
  /** The same while this thread hardly gets one, in ms. */
  readonly roundCrowdedMs: number;
};

/** Of the time in which a thread could run it waits so much for a processor before rounds become longer. */
const crowdedFrom = 0.45;
/** With so much they are as long as they become. */
const crowdedAt = 0.6;
/** What the last look weighs against all before it: one is short, and moves much by itself. */
const newestShare = 0.3;
/** A thread that ran less between two looks says nothing of the processors. */
const ranMsMin = 10;

/**
 * How far apart rounds of frames are kept. Each frame costs the log, the pipeline and the database a wake, a sync and a
 * turn, however few events it has: where all processors are taken, what goes sooner only waits elsewhere, and has
 * everybody's work wait with it. So the share of the time in which this thread could run and was given no processor decides.
 */
export class RoundPace {
  readonly #settings: RoundPaceSettings;
  readonly #use: () => CpuUse;
  readonly #looking: Periodic;
  #last: CpuUse;
  #waitShare = 0;

  constructor(settings: RoundPaceSettings, use: () => CpuUse = useOfOwnThread()) {
    this.#settings = settings;
    this.#use = use;
    this.#last = use();
    this.#looking = every(tickMs, () => this.#look());
  }

  /** Time from the start of a round to the start of a small one behind it, in ms. */
  get roundMs(): number {
    const { roundMs, roundCrowdedMs } = this.#settings;
    const crowd = Math.min(1, Math.max(0, (this.#waitShare - crowdedFrom) / (crowdedAt - crowdedFrom)));
    return roundMs + Math.max(0, roundCrowdedMs - roundMs) * crowd;
  }

  stop(): Promise<void> {
    return this.#looking.stop();
  }

  #look(): void {
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
