import { createLatencies, percentilesOf, recordMs } from '../load/load-recorder.ts';
import { sleep } from '../machine/wait-until.ts';
import type { ControlAccess } from '../system/control-client.ts';

const readEveryMs = 50;
const failedReadMs = 60_000;

/**
 * Lists the account's sources repeatedly while `work` runs. Returns the result of `work` and the 90th percentile of the
 * read times in ms; a failed read counts as `failedReadMs`.
 */
export async function readBeside<Result>(
  control: Pick<ControlAccess, 'call'>,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly p90Ms: number }> {
  const latencies = createLatencies();
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      const isRead = await control.call('GET', 'sources').then(
        () => true,
        () => false,
      );
      recordMs(latencies, isRead ? performance.now() - startedMs : failedReadMs);
      await sleep(readEveryMs);
    }
  })();
  let result: Result;
  try {
    result = await work();
  } finally {
    stopping.abort();
    await running;
  }
  return { result, p90Ms: percentilesOf(latencies).p90 };
}
