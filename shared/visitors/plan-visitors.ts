import { AccountBatch } from './account-batch.ts';
import type { AccountBatchOptions } from './account-batch.ts';
import type { KnownVisitors } from './stored-visitor.ts';
import type { ClearedIdentity, IdentityRow, VisitorMerge, VisitorWrite } from './visitor-rows.ts';
import type { VisitorOutcome, VisitorTouch } from './visitor-store.ts';

/** What a batch of events does to the visitors: the outcome of each event, and the rows to write. */
export type VisitorPlan = {
  readonly outcomes: readonly VisitorOutcome[];
  /** Visitors to insert, or to update when `stored` says from which state. */
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors whose identities and aliases move to another. */
  readonly merges: readonly VisitorMerge[];
  /** Identities to take from a visitor before others are inserted, since the property was cleared. */
  readonly cleared: readonly ClearedIdentity[];
  readonly oversized: number;
};

/**
 * Decides, without touching anything, what the events do, in their order. Order of resolution: userId (direct), then
 * externalId, then e-mail, each looked up or made, else a new visitor. An externalId that leads to another visitor
 * merges the two, and the older id stays; an e-mail address already taken stays where it is.
 */
export function planVisitors(
  touches: readonly VisitorTouch[],
  known: (accountId: string) => KnownVisitors,
  options: AccountBatchOptions,
): VisitorPlan {
  const batches = new Map<string, AccountBatch>();
  const outcomes = touches.map((touch) => {
    let batch = batches.get(touch.accountId);
    if (batch === undefined) {
      batch = new AccountBatch(touch.accountId, known(touch.accountId), options);
      batches.set(touch.accountId, batch);
    }
    return batch.touch(touch);
  });
  const plans = [...batches.values()].map((batch) => batch.rows());
  return {
    outcomes,
    writes: plans.flatMap((plan) => plan.writes),
    newIdentities: plans.flatMap((plan) => plan.newIdentities),
    merges: plans.flatMap((plan) => plan.merges),
    cleared: plans.flatMap((plan) => plan.cleared),
    oversized: plans.reduce((sum, plan) => sum + plan.oversized, 0),
  };
}
