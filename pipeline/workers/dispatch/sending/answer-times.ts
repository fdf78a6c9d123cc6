import type { AnswerTimesMs } from '../../../../shared/contracts/health-record.ts';

const kept = 64;

/** The answer times of the last requests to a destination. */
export class AnswerTimes {
  readonly #timesMs = new Float64Array(kept);
  #count = 0;

  observe(tookMs: number): void {
    this.#timesMs[this.#count % kept] = tookMs;
    this.#count += 1;
  }

  /** Median and 95th percentile of these times; undefined before the first request. */
  summary(): AnswerTimesMs | undefined {
    const sorted = this.#timesMs.slice(0, Math.min(this.#count, kept)).toSorted();
    if (sorted.length === 0) return undefined;
    const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
    return { half: at(0.5), most: at(0.95) };
  }
}
