import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { encodeTriggered, triggeredKey } from '../../shared/contracts/source-activity.ts';
import type { SourceActivity } from '../ingest/published-sources.ts';

const everyMs = 2_000;
/** Writes in flight at a time, so that a thousand sources that wake up together do not flood the log. */
const writesAtOnce = 16;

/** Keeps the HEALTH bucket informed of when each source was last used. `stop` writes what is not written yet. */
export function reportActivity(
  bucket: Bucket,
  instanceId: string,
  sources: { readonly activities: Iterable<SourceActivity> },
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const written = new Map<string, number>();
  let writing: Promise<void> | undefined;
  const write = async ({ sourceId, lastTriggeredAtMs }: SourceActivity): Promise<void> => {
    await bucket.put(triggeredKey(sourceId, instanceId), encodeTriggered(lastTriggeredAtMs));
    written.set(sourceId, lastTriggeredAtMs);
  };
  const writeAll = async (): Promise<void> => {
    const due = [...sources.activities].filter((one) => one.lastTriggeredAtMs > (written.get(one.sourceId) ?? 0));
    for (let at = 0; at < due.length; at += writesAtOnce) {
      await Promise.all(due.slice(at, at + writesAtOnce).map(write));
    }
  };
  const run = (): Promise<void> =>
    (writing ??= writeAll()
      .catch(onError)
      .finally(() => {
        writing = undefined;
      }));
  const timer = setInterval(() => void run(), everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await run();
      await run();
    },
  };
}
