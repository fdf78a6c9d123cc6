import { backpressureKey, encodeBackpressure } from '../../../shared/contracts/backpressure.ts';
import type { BackpressureReport } from '../../../shared/contracts/backpressure.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import type { BackpressureSettings } from './backpressure-settings.ts';
import { judgeWait } from './judge-wait.ts';
import type { WaitJudgement } from './judge-wait.ts';
import { every } from '../../../shared/runtime/every.ts';

/** Interval of the reports, in ms; threads report the waits of their destinations at the same interval. */
const everyMs = 1_000;

/** The oldest event that waits for a destination. */
export type DestinationWait = {
  readonly destinationId: string;
  /**
   * Undefined if the destination cannot be reached: how long its events wait then says nothing about the rate of its
   * sources.
   */
  readonly ageMs: number | undefined;
};

export type BackpressureOptions = {
  /** The bucket of leases, whose entries expire unless renewed. */
  readonly bucket: Pick<Bucket, 'put' | 'delete'>;
  readonly instanceId: string;
  readonly settings: BackpressureSettings;
  readonly waits: () => Iterable<DestinationWait>;
  /** How long the oldest accepted event has waited to be resolved, in ms; undefined if another instance measures it. */
  readonly resolveLagMs: () => number | undefined;
  /** Bytes in INGEST that wait in the queues of accounts, by account. */
  readonly queuedBytes: () => ReadonlyMap<string, number>;
  readonly accountOf: (destinationId: string) => string | undefined;
  readonly onError: (error: unknown) => void;
};

/**
 * Reports to gateways which accounts have events that wait too long, and how many bytes wait in the queues of accounts.
 */
export function tellBackpressure(options: BackpressureOptions): { stop(): Promise<void> } {
  const { bucket, instanceId, onError } = options;
  const key = backpressureKey(instanceId);
  const judge = createWaitJudge(options);
  let isTold = false;
  const tell = async (): Promise<void> => {
    const report = judge();
    if (report !== undefined) await bucket.put(key, encodeBackpressure(report));
    else if (isTold) await bucket.delete(key);
    isTold = report !== undefined;
  };
  const telling = every(everyMs, () => tell().catch(onError));
  return {
    async stop() {
      await telling.stop();
      if (isTold) await bucket.delete(key).catch(onError);
    },
  };
}

/**
 * Returns a function that judges all waits. It returns the report, or undefined if no wait is late and no account has a
 * queue.
 */
export function createWaitJudge({
  settings: { ageMaxMs, accountsMax },
  waits,
  resolveLagMs,
  queuedBytes,
  accountOf,
}: Pick<BackpressureOptions, 'settings' | 'waits' | 'resolveLagMs' | 'queuedBytes' | 'accountOf'>) {
  let destinations = new Map<string, WaitJudgement>();
  let resolving: WaitJudgement | undefined;
  return (): BackpressureReport | undefined => {
    const judged = new Map<string, WaitJudgement>();
    const late = new Map<string, number>();
    for (const { destinationId, ageMs } of ageMaxMs > 0 ? waits() : []) {
      const judgement = judgeWait(destinations.get(destinationId), ageMs, ageMaxMs);
      if (judgement === undefined || ageMs === undefined) continue;
      judged.set(destinationId, judgement);
      const accountId = judgement.kind === 'late' ? accountOf(destinationId) : undefined;
      if (accountId !== undefined) late.set(accountId, Math.max(late.get(accountId) ?? 0, Math.round(ageMs)));
    }
    destinations = judged;
    const lagMs = ageMaxMs > 0 ? resolveLagMs() : undefined;
    resolving = judgeWait(resolving, lagMs, ageMaxMs);
    const isResolvingLate = resolving?.kind === 'late' && lagMs !== undefined;
    const queued = [...queuedBytes()]
      .filter(([, bytes]) => bytes > 0)
      .map(([accountId, bytes]): [string, number] => [accountId, Math.round(bytes)])
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, accountsMax);
    if (late.size + queued.length === 0 && !isResolvingLate) return undefined;
    return {
      v: 1,
      accounts: [...late].toSorted(([, a], [, b]) => b - a).slice(0, accountsMax),
      ...(isResolvingLate ? { resolve: { ageMs: Math.round(lagMs), ageMaxMs } } : {}),
      ...(queued.length > 0 ? { queued } : {}),
    };
  };
}
