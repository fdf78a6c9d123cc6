import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../shared/postgres/in-transaction.ts';
import { holdForErasure } from '../../shared/visitors/erasure-lock.ts';
import { eraseVisitorRows } from '../../shared/visitors/find-visitor.ts';
import { cleanText } from '../../shared/visitors/visitor-identity.ts';

/** What an erasure removed; no ids when there was no such visitor. */
export type Erased = { readonly ids: readonly string[]; readonly recentEventCount: number };

/**
 * Tables, beside the visitors' own, whose rows belong to a visitor by `account_id` and `visitor_id`. Outcomes go with
 * their events. Whoever writes to one of them holds the lock of shared/visitors/erasure-lock.ts.
 */
const visitorTables = ['recent_events', 'experiment_assignments', 'experiment_visitors'] as const;

/**
 * Erases the visitor an id or alias leads to: its properties, what identifies it, its recent events, its
 * assignments to experiments and its part in their results, all or nothing, and with it what `audit` notes where there
 * was such a visitor. A tombstone stays, so that an event that is still on its way does not bring it back.
 *
 * Events in the log are not rewritten: many share one message, and JetStream removes whole messages only. They leave
 * it with retention, seven days by default; until then a replay delivers them again. Dead letters stay until they are
 * replayed or purged, and what a destination was sent is that destination's to erase.
 */
export function eraseVisitor(
  pool: Pool,
  accountId: string,
  id: string,
  audit: (client: PoolClient) => Promise<void>,
): Promise<Erased> {
  return inTransaction(pool, async (client) => {
    await holdForErasure(client, accountId);
    const known = await eraseVisitorRows(client, accountId, id);
    // Who only asked for an experiment's variant has an assignment, and is no visitor yet.
    const ids = known.length > 0 ? known : [id].filter(isStorableId);
    let recentEventCount = 0;
    let deletedCount = 0;
    for (const table of visitorTables) {
      const { rowCount } = await client.query(
        `delete from ${table} where account_id = $1 and visitor_id = any($2::text[])`,
        [accountId, ids],
      );
      deletedCount += rowCount ?? 0;
      if (table === 'recent_events') recentEventCount = rowCount ?? 0;
    }
    const isErased = known.length > 0 || deletedCount > 0;
    if (isErased) await audit(client);
    return { ids: isErased ? ids : [], recentEventCount };
  });
}

function isStorableId(id: string): boolean {
  return cleanText(id) === id;
}
