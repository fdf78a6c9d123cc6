import type { Lane, PoolOptions } from './connection-pool.ts';
import { ConnectionPool } from './connection-pool.ts';
import { takeLastAnswers } from './last-answers.ts';
import { LoadRecorder } from './load-recorder.ts';
import type { LoadResult } from './load-result.ts';
import { resultOf } from './load-result.ts';
import type { LoopTiming } from './measure-windows.ts';
import { measureWindows } from './measure-windows.ts';
import { warmUp } from './steady.ts';

const tickMs = 1;

/** How requests arrive. */
export type Arriving = {
  readonly ratePerS: number;
  /** Drops a request that has waited this long for a connection, in ms. By default every request is sent. */
  readonly givesUpAfterMs?: number | undefined;
};

/**
 * Requests arrive at a constant rate regardless of earlier responses, like requests of independent clients. Latency
 * is measured from the due time, including the wait for a connection.
 */
export async function openLoop(
  options: PoolOptions,
  { ratePerS, givesUpAfterMs }: Arriving,
  timing: LoopTiming,
): Promise<LoadResult> {
  const free: Lane[] = [];
  let recorder: LoadRecorder | undefined;
  let measureFromMs = Number.POSITIVE_INFINITY;
  let arrivals: Arrivals | undefined = new Arrivals(ratePerS, performance.now());
  let givenUp = 0;
  const pump = (): void => {
    const nowMs = performance.now();
    if (givesUpAfterMs !== undefined) {
      const skipped = arrivals?.skip(nowMs - givesUpAfterMs) ?? 0;
      if (recorder !== undefined) givenUp += skipped;
    }
    while (free.length > 0) {
      const dueMs = arrivals?.take(nowMs);
      if (dueMs === undefined) return;
      // Uses the connection that was idle longest, so that all connections and their bodies are used at low rates too.
      const lane = free.shift();
      if (lane === undefined) return;
      pool.send(lane, dueMs);
    }
  };
  const pool = new ConnectionPool(options, {
    onFree(lane, status) {
      // The response to a request of the warm-up does not count, however late it is.
      if (status !== undefined && lane.dueMs >= measureFromMs) {
        recorder?.record(status, performance.now() - lane.dueMs);
      }
      free.push(lane);
      pump();
    },
  });
  pool.open();
  const timer = setInterval(pump, tickMs);
  const warmedUp = await warmUp(timing, () => pool.answered);
  measureFromMs = performance.now();
  recorder = new LoadRecorder(measureFromMs);
  await measureWindows(recorder, timing);
  const endedMs = performance.now();
  const seconds = (endedMs - measureFromMs) / 1000;
  const unsent = givenUp + recordUnsent(arrivals, recorder, endedMs);
  // No further request may become due.
  arrivals = undefined;
  clearInterval(timer);
  const unanswered = await takeLastAnswers(pool, recorder);
  const result = resultOf(recorder, seconds, pool, { unsent, unanswered, warmedUp });
  pool.close();
  return result;
}

/** Records the requests that were due and not sent, with the time that they have waited. Returns their number. */
function recordUnsent(arrivals: Arrivals, recorder: LoadRecorder, endedMs: number): number {
  let unsent = 0;
  for (let dueMs = arrivals.take(endedMs); dueMs !== undefined; dueMs = arrivals.take(endedMs)) {
    recorder.recordUnanswered(endedMs - dueMs);
    unsent += 1;
  }
  return unsent;
}

/**
 * Schedule of requests at a constant rate. A request that cannot be sent when it is due keeps its due time, so a server
 * that stalls for a second is charged with the waits of all requests due in that second (coordinated omission; see
 * Gil Tene, "How NOT to Measure Latency").
 */
export class Arrivals {
  readonly #intervalMs: number;
  readonly #startMs: number;
  #taken = 0;

  constructor(ratePerS: number, startMs: number) {
    this.#intervalMs = 1_000 / ratePerS;
    this.#startMs = startMs;
  }

  /** When the next request is due, in ms. */
  get nextMs(): number {
    return this.#startMs + this.#taken * this.#intervalMs;
  }

  /** Skips all requests due before a time, in ms. Returns their number. */
  skip(beforeMs: number): number {
    const skipped = Math.max(0, Math.ceil((beforeMs - this.nextMs) / this.#intervalMs));
    this.#taken += skipped;
    return skipped;
  }

  /** Removes the oldest due request and returns its due time in ms; undefined if none is due. */
  take(nowMs: number): number | undefined {
    const dueMs = this.nextMs;
    if (dueMs > nowMs) return undefined;
    this.#taken += 1;
    return dueMs;
  }
}
