import type { Bucket, BucketEntry } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { allReplays, decodeReplay, encodeReplay, isOver } from '../../shared/replay/replay-job.ts';
import type { ReplayJob } from '../../shared/replay/replay-job.ts';
import { runReplay } from './run-replay.ts';

export type ReplayRunnerOptions = {
  readonly connection: LogConnection;
  readonly bucket: Bucket;
  readonly instanceId: string;
  readonly logger: Logger;
};

export type ReplayRunner = { readonly running: number; stop(): Promise<void> };

const runningMax = 4;
const lookEveryMs = 1_000;
/** A replay nobody has noted progress of for this long is taken over, in ms. */
const abandonedAfterMs = 15_000;

/** Carries out the replays that are asked for, each by one instance at a time. */
export async function startReplayRunner(options: ReplayRunnerOptions): Promise<ReplayRunner> {
  const { connection, bucket, instanceId, logger } = options;
  const abort = new AbortController();
  const known = new Map<string, BucketEntry>();
  const running = new Map<string, Promise<void>>();

  const run = async (entry: BucketEntry, job: ReplayJob): Promise<void> => {
    const isCancelled = job.state === 'cancelling';
    const claimed: ReplayJob = {
      ...job,
      owner: instanceId,
      state: isCancelled ? 'cancelled' : 'running',
      updatedAtMs: Date.now(),
    };
    const revision = await bucket.putIfUnchanged(entry.key, encodeReplay(claimed), entry.revision);
    if (revision === undefined || isCancelled) return;
    const fields = { replay: job.id, destinationId: job.destinationId };
    logger.info({ ...fields, what: job.request.what }, 'replay begins');
    await runReplay({ connection, bucket, instanceId, signal: abort.signal }, claimed, revision);
    logger.info(fields, 'replay ended');
  };

  const look = (): void => {
    if (!connection.connected) return;
    for (const [key, entry] of known) {
      const job = decodeReplay(entry.value);
      if (job === undefined || isOver(job)) {
        known.delete(key);
        continue;
      }
      const isFree = job.owner === undefined || Date.now() - job.updatedAtMs > abandonedAfterMs;
      const isOwn = job.owner === instanceId;
      if (running.has(key) || running.size >= runningMax || !(isFree || isOwn)) continue;
      const work = run(entry, job)
        .catch((error: unknown) => {
          if (!abort.signal.aborted) logger.warn({ replay: job.id, err: error }, 'a replay failed, trying on');
        })
        .finally(() => running.delete(key));
      running.set(key, work);
    }
  };

  const watch = await bucket.watch({
    filter: allReplays,
    onEntry: (entry) => {
      if (entry.value === undefined) known.delete(entry.key);
      else known.set(entry.key, entry);
    },
  });
  const timer = setInterval(look, lookEveryMs);
  return {
    get running() {
      return running.size;
    },
    async stop() {
      clearInterval(timer);
      watch.stop();
      abort.abort(new Error('the process ends'));
      await Promise.all(running.values());
    },
  };
}
