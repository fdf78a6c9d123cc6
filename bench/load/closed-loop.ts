import { ConnectionPool } from './connection-pool.ts';
import type { PoolOptions } from './connection-pool.ts';
import { takeLastAnswers } from './last-answers.ts';
import { LoadRecorder } from './load-recorder.ts';
import { resultOf } from './load-result.ts';
import type { LoadResult } from './load-result.ts';
import { measureWindows } from './measure-windows.ts';
import type { LoopTiming } from './measure-windows.ts';
import { warmUp } from './steady.ts';

/** Each connection sends its next request as soon as the previous one is answered: measures a server's maximum rate. */
export async function closedLoop(options: PoolOptions, timing: LoopTiming): Promise<LoadResult> {
  let recorder: LoadRecorder | undefined;
  let isStopped = false;
  const pool = new ConnectionPool(options, {
    onFree(lane, status) {
      const nowMs = performance.now();
      if (isStopped) {
        if (status !== undefined) recorder?.recordLate(status, nowMs - lane.dueMs);
        return;
      }
      if (status !== undefined) recorder?.record(status, nowMs - lane.dueMs);
      pool.send(lane, nowMs);
    },
  });
  pool.open();
  const warmedUp = await warmUp(timing, () => pool.answered);
  const startedMs = performance.now();
  recorder = new LoadRecorder(startedMs);
  await measureWindows(recorder, timing);
  isStopped = true;
  const seconds = (performance.now() - startedMs) / 1000;
  const unanswered = await takeLastAnswers(pool, recorder);
  const result = resultOf(recorder, seconds, pool, { unsent: 0, unanswered, warmedUp });
  pool.close();
  return result;
}
