import { allBackpressure, decodeBackpressure } from '../../shared/contracts/backpressure.ts';
import type { BackpressureReport } from '../../shared/contracts/backpressure.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { followHeard } from '../../shared/nats/buckets/follow-heard.ts';
import type { HeardEntries } from '../../shared/nats/buckets/follow-heard.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { isNotPermitted } from '../../shared/nats/connection/server-error.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { waitsTooLong } from '../http/reply.ts';
import type { AccountIntake } from './published-sources.ts';

const lookEveryMs = 1_000;
/** What was taken longer ago than this says nothing of what waits, unless that is older. */
const takenWithinMs = 60_000;

/** Holds accounts back whose events wait for too long. */
export type Backpressure = {
  /** Accounts held back now. */
  readonly accounts: number;
  stop(): void;
};

export type BackpressureOptions = {
  /** That of leases, where pipelines tell of it. */
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly intakes: () => Iterable<AccountIntake>;
  readonly logger: Pick<Logger, 'warn'>;
};

/** Follows what pipelines tell of waits, and sets what the sources of each account are answered meanwhile. */
export async function followBackpressure(options: BackpressureOptions): Promise<Backpressure> {
  const { bucket, connection, intakes, logger } = options;
  const shares = createTakenShares(intakes);
  let accounts = 0;
  let heard: HeardEntries | undefined;
  const look = (): void => {
    const nowMs = performance.now();
    const reports = [...(heard?.entries.values() ?? [])]
      // One that is not told again is of a pipeline that has gone.
      .filter(({ heardAtMs }) => nowMs - heardAtMs < leaseTtlMs)
      .flatMap(({ value }) => decodeBackpressure(value) ?? []);
    shares.look(nowMs, longestResolve(reports)?.ageMs ?? 0);
    const held = heldBack(reports, shares.all());
    for (const intake of intakes()) {
      const ageMs = held.get(intake.accountId);
      intake.refusal = ageMs === undefined ? undefined : waitsTooLong(ageMs);
    }
    accounts = held.size;
  };
  try {
    heard = await followHeard({
      bucket,
      connection,
      filter: allBackpressure,
      onChanged: look,
      onError: (error) => logger.warn({ err: error }, 'following what waits for too long failed'),
    });
  } catch (error) {
    // A server whose users are those of an earlier version: what was taken before is taken still.
    if (!isNotPermitted(error)) throw error;
    logger.warn({ err: error }, 'sources are not held back: the user in NATS_USER may not follow the bucket of leases');
  }
  const looking = every(lookEveryMs, look);
  return {
    get accounts() {
      return accounts;
    },
    stop() {
      void looking.stop();
      heard?.stop();
    },
  };
}

/** What an account has of the events that were taken of late. */
export type TakenShare = { readonly accountId: string; readonly taken: number };

/**
 * The accounts to hold back, each with how long its oldest event waits, in ms. Those with a late destination are named by
 * the pipeline. Whose events a late resolver has before it is not known one by one, and everybody's wait there: held back
 * are those who sent most, until the others have at most half of what was taken, or less the later it is. Pure.
 */
export function heldBack(reports: readonly BackpressureReport[], taken: readonly TakenShare[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const [accountId, ageMs] of reports.flatMap(({ accounts }) => accounts)) {
    held.set(accountId, Math.max(held.get(accountId) ?? 0, ageMs));
  }
  const resolve = longestResolve(reports);
  if (resolve === undefined) return held;
  let others = taken.reduce((sum, share) => sum + share.taken, 0);
  const othersMax = (others / 2) * Math.min(1, resolve.ageMaxMs / resolve.ageMs);
  for (const share of taken.toSorted((a, b) => b.taken - a.taken)) {
    if (others <= othersMax || share.taken === 0) break;
    held.set(share.accountId, Math.max(held.get(share.accountId) ?? 0, resolve.ageMs));
    others -= share.taken;
  }
  return held;
}

function longestResolve(reports: readonly BackpressureReport[]): BackpressureReport['resolve'] {
  return reports.flatMap(({ resolve }) => resolve ?? []).toSorted((a, b) => b.ageMs - a.ageMs)[0];
}

/** What each account has of the events taken in the last minute or so, or since the oldest that waits was. */
function createTakenShares(intakes: () => Iterable<AccountIntake>) {
  let lookedAtMs = performance.now();
  let known = new Map<AccountIntake, { readonly counted: number; readonly taken: number }>();
  return {
    look(nowMs: number, ageMs: number): void {
      const kept = Math.exp(-(nowMs - lookedAtMs) / Math.max(takenWithinMs, ageMs));
      lookedAtMs = nowMs;
      const next: typeof known = new Map();
      for (const intake of intakes()) {
        const before = known.get(intake) ?? { counted: 0, taken: 0 };
        next.set(intake, { counted: intake.taken, taken: before.taken * kept + intake.taken - before.counted });
      }
      known = next;
    },
    all: (): TakenShare[] => [...known].map(([{ accountId }, { taken }]) => ({ accountId, taken })),
  };
}
