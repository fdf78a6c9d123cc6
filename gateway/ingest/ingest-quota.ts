import { fairLevel, isOverQuota } from '../../shared/limits/index.ts';
import type { QuotaSettings } from '../../shared/limits/index.ts';

/** Use of INGEST, in bytes. */
export type IngestUse = {
  readonly used: number;
  readonly capacity: number;
  /** Known bytes of accounts in INGEST. An account may have more, which only other gateways know. */
  readonly byAccount: ReadonlyMap<string, number>;
};

/** An account that uses less than this fraction of INGEST is never refused. */
const smallShare = 0.01;

/**
 * The accounts over their quota of INGEST and, if all accounts together exceed `all`, the accounts with the most bytes.
 * An account in `refused` stays refused until it is clearly below the limit. Pure.
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
