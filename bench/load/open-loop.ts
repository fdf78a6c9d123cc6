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

/** Arrival of requests. */
export type Arriving = {
  readonly ratePerS: number;
  /** A request that waits this long for a connection is dropped, in ms. By default each is sent. */
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
      // The longest-idle connection: connections, and their bodies, are used in turn at low rates too.
      const lane = free.shift();
      if (lane === undefined) return;
      pool.send(lane, dueMs);
    }
  };
  const pool = new ConnectionPool(options, {
    onFree(lane, status) {
      // A warm-up request that is answered late belongs to the warm-up.
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
  // No further request becomes due.
  arrivals = undefined;
  clearInterval(timer);
  const unanswered = await takeLastAnswers(pool, recorder);
  const result = resultOf(recorder, seconds, pool, { unsent, unanswered, warmedUp });
  pool.close();
  return result;
}

/** Requests that could not be sent have waited too, at least until now. */
function recordUnsent(arrivals: Arrivals, recorder: LoadRecorder, endedMs: number): number {
  let unsent = 0;
  for (let dueMs = arrivals.take(endedMs); dueMs !== undefined; dueMs = arrivals.take(endedMs)) {
    recorder.recordUnanswered(endedMs - dueMs);
    unsent += 1;
  }
  return unsent;
}

/**
 * Schedule of requests at a constant rate. A request that is due and cannot be sent yet keeps its due time: a server
 * that stalls for a second is charged with the waits of all requests due in that second (coordinated omission, see
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

  /** The time the next request is due. */
  get nextMs(): number {
    return this.#startMs + this.#taken * this.#intervalMs;
  }

  /** Skips all requests due before a time. Returns their number. */
  skip(beforeMs: number): number {
    const skipped = Math.max(0, Math.ceil((beforeMs - this.nextMs) / this.#intervalMs));
    this.#taken += skipped;
    return skipped;
  }

  /** Removes and returns the oldest due request; undefined when none is due. */
  take(nowMs: number): number | undefined {
    const dueMs = this.nextMs;
    if (dueMs > nowMs) return undefined;
    this.#taken += 1;
    return dueMs;
  }
}
