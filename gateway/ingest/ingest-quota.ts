import { fairLevel, isOverQuota } from '../../shared/limits/index.ts';
import type { QuotaSettings } from '../../shared/limits/index.ts';

/** What INGEST holds, in bytes. */
export type IngestUse = {
  readonly used: number;
  readonly capacity: number;
  /** The known bytes of accounts in INGEST. An account may have more: other gateways know of that. */
  readonly byAccount: ReadonlyMap<string, number>;
};

/** An account with less than this part of INGEST is never refused for it. */
const smallShare = 0.01;

/**
 * The accounts that have more in INGEST than they may, among them those `refused` until they have clearly less. An
 * account has at most its quota, and where all together have more than `all`, those with most give way until it fits. Pure.
 */
export function overIngestQuota(
  { used, capacity, byAccount }: IngestUse,
  { account, all }: QuotaSettings,
  refused: ReadonlySet<string>,
): Set<string> {
  const sizes = [...byAccount.values()];
  const unknown = used - sizes.reduce((sum, bytes) => sum + bytes, 0);
  const level = used > capacity * all ? fairLevel(sizes, capacity * all - unknown) : Infinity;
  const limit = Math.min(capacity * account, Math.max(level, capacity * smallShare));
  const isOver = ([accountId, bytes]: readonly [string, number]): boolean =>
    isOverQuota(bytes, limit, refused.has(accountId));
  return new Set([...byAccount].filter(isOver).map(([accountId]) => accountId));
}
