import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import { every } from '../../../../shared/runtime/every.ts';
import { dispatchedKey, encodeDispatched } from '../../../../shared/contracts/source-activity.ts';

/** When events of each source last reached a destination; shared by the dispatchers of a thread. */
export type SourceActivity = {
  dispatched(sourceId: string, atMs: number): void;
  /** Writes the times that are not written yet, and ends the writes. */
  stop(): Promise<void>;
};

const writeEveryMs = 2_000;
const writesInFlightMax = 16;

/** Writes the entries `source-dispatch.<source>.<instance>` of the HEALTH bucket, each at most every two seconds. */
export function createSourceActivity(
  bucket: Bucket,
  instanceId: string,
  onError: (error: unknown) => void,
): SourceActivity {
  const latest = new Map<string, number>();
  const write = async (): Promise<void> => {
    const entries = [...latest];
    latest.clear();
    while (entries.length > 0) {
      await Promise.all(
        entries.splice(0, writesInFlightMax).map(async ([sourceId, lastDispatchedAt]) => {
          await bucket.put(dispatchedKey(sourceId, instanceId), encodeDispatched(lastDispatchedAt));
        }),
      );
    }
  };
  let writing: Promise<void> = Promise.resolve();
  const writeNow = (): Promise<void> => (writing = writing.then(write).catch(onError));
  const writings = every(writeEveryMs, () => {
    if (latest.size > 0) return writeNow();
  });
  return {
    dispatched: (sourceId, atMs) => void latest.set(sourceId, atMs),
    async stop() {
      await writings.stop();
      await writeNow();
    },
  };
}
