import { afterReconnect } from '../../../shared/nats/connection/after-reconnect.ts';
import type { Bucket, BucketEntry, BucketWatch } from '../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { every } from '../../../shared/runtime/every.ts';
import { allReplays, byTurn, decodeReplay, encodeReplay, isOver } from '../../../shared/contracts/replay-job.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import { ReplayTurns } from './replay-turns.ts';
import { runReplay } from './run-replay.ts';
import type { ReplayContext } from './run-replay.ts';

export type ReplayRunnerOptions = {
  readonly connection: LogConnection;
  readonly bucket: Bucket;
  readonly instanceId: string;
  readonly erasures: ReplayContext['erasures'];
  readonly logger: Logger;
  /** Whether the destination is enabled in the live version of the account; if not, no dispatcher sends the events. */
  isLive(accountId: string, destinationId: string): boolean;
  /** A replay that has not recorded progress for this long is taken over, in ms. Default 15,000. */
  readonly abandonedAfterMs?: number;
};

export type ReplayRunner = { readonly running: number; stop(): Promise<void> };

/**
 * Maximum number of replays at once. Most of them wait for room, and a destination that is down must not delay replays
 * to other destinations.
 */
const runningMax = 32;
const runningOfAccountMax = 8;
const lookEveryMs = 1_000;

/**
 * Runs requested replays, each on one instance at a time. Replays to one destination run one after the other: if two
 * read the same dead letters at once, they would send them twice.
 */
export async function startReplayRunner(options: ReplayRunnerOptions): Promise<ReplayRunner> {
  const { connection, bucket, instanceId, erasures, logger, isLive, abandonedAfterMs = 15_000 } = options;
  const abort = new AbortController();
  const turns = new ReplayTurns();
  let known = new Map<string, HeardReplay>();
  let isCurrent = false;
  const running = new Map<string, { readonly accountId: string; readonly work: Promise<void> }>();

  /** Claims and runs a replay; false if another instance claimed it first. */
  const run = async (entry: BucketEntry, job: ReplayJob): Promise<boolean> => {
    const isCancelled = job.state === 'cancelling';
    const claimed: ReplayJob = {
      ...job,
      owner: instanceId,
      state: isCancelled ? 'cancelled' : 'running',
      updatedAtMs: Date.now(),
    };
    const revision = await bucket.putIfUnchanged(entry.key, encodeReplay(claimed), entry.revision);
    if (revision === undefined || isCancelled) return revision !== undefined;
    const fields = { replay: job.id, destinationId: job.destinationId };
    logger.info({ ...fields, what: job.request.what }, 'replay started');
    const context = { connection, bucket, instanceId, erasures, signal: abort.signal, turns: turns.ofReplay() };
    await runReplay({ ...context, isLive: () => isLive(job.accountId, job.destinationId) }, claimed, revision);
    logger.info(fields, 'replay ended or handed over');
    return true;
  };

  const mayRun = ({ key, job, receivedAtMs }: OpenJob, isFirst: boolean): boolean => {
    const ofAccount = [...running.values()].filter(({ accountId }) => accountId === job.accountId).length;
    if (running.has(key) || running.size >= runningMax || ofAccount >= runningOfAccountMax) return false;
    const isFree = job.owner === undefined || performance.now() - receivedAtMs > abandonedAfterMs;
    if (!isFree && job.owner !== instanceId) return false;
    return job.state === 'cancelling' || (isFirst && isLive(job.accountId, job.destinationId));
  };

  const look = (): void => {
    if (!connection.connected || !isCurrent || abort.signal.aborted) return;
    const begun = new Set<string>();
    for (const open of openJobs(known)) {
      const { key, entry, job } = open;
      const isFirst = !begun.has(job.destinationId);
      begun.add(job.destinationId);
      if (!mayRun(open, isFirst)) continue;
      const work = run(entry, job).then(
        (wasOurs) => {
          running.delete(key);
          if (wasOurs) look();
        },
        (error: unknown) => {
          // The next check tries again.
          running.delete(key);
          if (!abort.signal.aborted) logger.warn({ replay: job.id, err: error }, 'a replay failed; retrying');
        },
      );
      running.set(key, { accountId: job.accountId, work });
    }
  };

  let watch: BucketWatch | undefined;
  const follow = async (): Promise<void> => {
    watch?.stop();
    const entries = new Map<string, HeardReplay>();
    known = entries;
    isCurrent = false;
    watch = await bucket.watch({
      filter: allReplays,
      onEntry: (entry) => {
        if (entry.value === undefined) entries.delete(entry.key);
        else entries.set(entry.key, { entry, receivedAtMs: performance.now() });
        look();
      },
      // A running replay may come after those that wait for it.
      onReady: () => {
        if (known === entries) isCurrent = true;
        look();
      },
    });
  };
  await follow();
  const again = afterReconnect(connection, follow, (error) => {
    logger.warn({ err: error }, 'resubscribing to replays failed');
  });
  const looking = every(lookEveryMs, look);
  return {
    get running() {
      return running.size;
    },
    async stop() {
      void looking.stop();
      again.stop();
      watch?.stop();
      abort.abort(new Error('the process ends'));
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}

/** An entry, and when it arrived, in ms of this process's clock, since the writer's clock may differ. */
type HeardReplay = { readonly entry: BucketEntry; readonly receivedAtMs: number };
type OpenJob = HeardReplay & { readonly key: string; readonly job: ReplayJob };

/** The open replays in the order of their turns. Finished ones are removed from `known`. */
function openJobs(known: Map<string, HeardReplay>): OpenJob[] {
  const open: OpenJob[] = [];
  for (const [key, { entry, receivedAtMs }] of known) {
    const job = decodeReplay(entry.value);
    if (job === undefined || isOver(job)) known.delete(key);
    else open.push({ key, entry, receivedAtMs, job });
  }
  return open.toSorted(byTurn);
}
