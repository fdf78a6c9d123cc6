import { encodeWorkReport, workKey } from '../../shared/contracts/work-report.ts';
import type { ActorReport, ThreadReport, WorkReport } from '../../shared/contracts/work-report.ts';
import { every } from '../../shared/runtime/every.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { PlacedActor } from '../supervisor/supervisor.ts';
import type { ThreadStats } from '../supervisor/stats-ledger.ts';

export type WorkSources = {
  readonly placed: () => readonly PlacedActor[];
  readonly threads: () => ReadonlyMap<number, ThreadStats>;
  readonly readyThreads: () => readonly number[];
};

const everyMs = 4_000;
/**
 * Maximum number of actors in a report, which takes about 100 bytes for each. Actors that do not run come first; actors
 * beyond the maximum are only counted.
 */
const actorsMax = 1_000;

export type TellWorkOptions = WorkSources & {
  /** The bucket of leases, whose entries expire unless renewed. */
  readonly bucket: Bucket;
  readonly instanceId: string;
  readonly onError: (error: unknown) => void;
};

/** Reports which thread runs which actor, for the console's view of the installation. */
export function tellWork(options: TellWorkOptions): { stop(): Promise<void> } {
  const { bucket, instanceId, onError } = options;
  let writing: Promise<void> = Promise.resolve();
  const tell = async (): Promise<void> => {
    const report = describeWork(options, { actorsMax, nowMs: performance.now() });
    await bucket.put(workKey(instanceId), encodeWorkReport(report));
  };
  const start = (): void => void (writing = writing.then(tell).catch(onError));
  const telling = every(everyMs, start);
  start();
  return {
    async stop() {
      await telling.stop();
      await writing;
      await bucket.delete(workKey(instanceId)).catch(onError);
    },
  };
}

/**
 * The threads and actors of this process; actors that do not run come first. Pure, except that it reads its sources.
 */
export function describeWork(
  { placed, threads, readyThreads }: WorkSources,
  { actorsMax, nowMs }: { readonly actorsMax: number; readonly nowMs: number },
): WorkReport {
  const actors = placed()
    .toSorted((a, b) => Number(a.state === 'running') - Number(b.state === 'running'))
    .map(({ kind, key, thread, state, failuresInARow }): ActorReport => ({
      kind,
      key,
      state,
      failuresInARow,
      ...(thread === undefined ? {} : { thread }),
    }));
  const ready = new Set(readyThreads());
  return {
    v: 1,
    threads: [...threads()].map(([thread, figures]): ThreadReport => ({
      thread,
      isReady: ready.has(thread),
      silentMs: Math.max(0, Math.round(nowMs - figures.reportedAtMs)),
      heapUsedBytes: figures.heapUsedBytes,
      utilization: figures.utilization,
      delayP99Ms: figures.delayP99Ms,
      isLogConnected: figures.isLogConnected,
    })),
    actors: actors.slice(0, actorsMax),
    actorsMore: Math.max(0, actors.length - actorsMax),
  };
}
