import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import type { Histogram } from 'hdr-histogram-js';

/** Percentiles of latencies, in ms. */
export type Percentiles = {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
};

/** One second of a measurement: responses per second, and those with status 200. */
export type LoadWindow = Percentiles & {
  readonly atS: number;
  readonly perSecond: number;
  readonly acceptedPerS: number;
};

const none = Number.NaN;
/** Percentiles without any latency: NaN, because zero would look fast. */
export const noPercentiles: Percentiles = { p50: none, p90: none, p99: none, p999: none, max: none };

const microsPerMs = 1_000;
const latencyMsMax = 600_000;

/** A histogram of latencies in microseconds, with three significant digits. */
export function createLatencies(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: latencyMsMax * microsPerMs,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 32,
    useWebAssembly: false,
  });
}

export function recordMs(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.min(latencyMsMax * microsPerMs, Math.max(1, Math.round(ms * microsPerMs))));
}

/** Encodes latencies as text, to send them to another process. */
export function encodeLatencies(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

export function decodeLatencies(text: string): Histogram {
  return decodeFromCompressedBase64(text, 32, false);
}

export function percentilesOf(histogram: Histogram): Percentiles {
  if (histogram.totalCount === 0) return noPercentiles;
  const max = histogram.maxValue / microsPerMs;
  // A percentile is the upper end of its bucket, which may exceed every recorded value.
  const at = (percent: number): number => Math.min(max, histogram.getValueAtPercentile(percent) / microsPerMs);
  return { p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max };
}

/** Records the responses of a measurement, in total and by window. */
export class LoadRecorder {
  readonly windows: LoadWindow[] = [];
  readonly byStatus = new Map<number, number>();
  readonly #all = createLatencies();
  readonly #window = createLatencies();
  #answers = 0;
  #windowAnswers = 0;
  #windowAccepted = 0;
  readonly #startedMs: number;
  #windowStartedMs: number;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
    this.#windowStartedMs = nowMs;
  }

  get answers(): number {
    return this.#answers;
  }

  record(status: number, latencyMs: number): void {
    this.#answers += 1;
    this.#windowAnswers += 1;
    if (status === 200) this.#windowAccepted += 1;
    recordMs(this.#window, latencyMs);
    this.recordLate(status, latencyMs);
  }

  /** Records a response that arrived after the end; it counts in the percentiles but not in the rate. */
  recordLate(status: number, latencyMs: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    recordMs(this.#all, latencyMs);
  }

  /** Records an unanswered request with the time that it has waited so far. */
  recordUnanswered(waitedMs: number): void {
    recordMs(this.#all, waitedMs);
  }

  /** Ends a window. Returns undefined if it is too short to be meaningful; the window then continues. */
  closeWindow(nowMs: number): LoadWindow | undefined {
    const seconds = (nowMs - this.#windowStartedMs) / 1000;
    if (seconds < 0.2) return undefined;
    const window = {
      atS: (nowMs - this.#startedMs) / 1000,
      perSecond: this.#windowAnswers / seconds,
      acceptedPerS: this.#windowAccepted / seconds,
      ...percentilesOf(this.#window),
    };
    this.windows.push(window);
    this.#window.reset();
    this.#windowAnswers = 0;
    this.#windowAccepted = 0;
    this.#windowStartedMs = nowMs;
    return window;
  }

  percentiles(): Percentiles {
    return percentilesOf(this.#all);
  }
}
