import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import type { JsonObject } from '../runtime/json.ts';
import { rootOf } from './alias-chains.ts';
import { selectChain } from './alias-statements.ts';
import { holdForErasure } from './erasure-lock.ts';
import { restoreAliases, restoreLoser, restoreSurvivor } from './split-statements.ts';
import type { IdentityKind } from './visitor-identity.ts';
import { selectTimesBefore } from './split-times.ts';
import { untilMemoriesKnow } from './trusted-memory.ts';
import { lockVisitors } from './visitor-statements.ts';
import type { Queryable } from './visitor-statements.ts';

export type SplitRequest = {
  readonly accountId: string;
  /** Any id of one of the visitors. */
  readonly id: string;
  readonly mergeId: string;
  /** The id of the API key. */
  readonly undoneBy: string;
};

export type TakenIdentity = { readonly kind: IdentityKind; readonly value: string; readonly visitorId: string };

export type Split =
  | {
      readonly kind: 'split';
      readonly survivor: string;
      readonly loser: string;
      /** Identities of the loser that now belong to another visitor. */
      readonly taken: readonly TakenIdentity[];
    }
  | {
      readonly kind:
        | 'missing'
        | 'undone'
        /** The survivor became an alias by a merge without a record. */
        | 'stuck';
    }
  /** A later merge of the survivor must be undone first. */
  | { readonly kind: 'later'; readonly mergeId: string };

/**
 * Undoes a merge: both visitors get their previous state, and the survivor keeps values that were written since. Merges
 * of one survivor are undone newest first, because each overwrote the result of the previous one. `audit` gets both
 * ids and runs within the transaction.
 */
export async function splitVisitors(
  pool: Pool,
  { accountId, id, mergeId, undoneBy }: SplitRequest,
  audit: (client: PoolClient, ids: readonly string[]) => Promise<void>,
): Promise<Split> {
  const split = await inTransaction<Split>(pool, async (client) => {
    // Until the transaction ends, no chain is shortened and no visitor erased.
    await holdForErasure(client, accountId);
    const merge = await selectMerge(client, accountId, mergeId);
    if (merge === undefined) return { kind: 'missing' };
    const { survivor, loser, isUndone } = merge;
    const root = await rootOf(client, accountId, id);
    const roots = [await rootOf(client, accountId, survivor), await rootOf(client, accountId, loser)];
    if (!roots.includes(root)) return { kind: 'missing' };
    if (isUndone) return { kind: 'undone' };
    await lockVisitors(client, [
      { accountId, id: survivor },
      { accountId, id: loser },
    ]);
    const later = await laterMerge(client, accountId, { survivor, mergeId });
    if (later !== undefined) return { kind: 'later', mergeId: later };
    const timesBefore = await selectTimesBefore(client, accountId, { survivor, mergeId });
    // Reads the loser's row, so it must run before the loser is restored.
    const { rows } = await client.query<{ properties: JsonObject }>(restoreSurvivor, [accountId, survivor, mergeId]);
    const [restored] = rows;
    if (restored === undefined) return { kind: 'stuck' };
    await client.query('update visitors set property_times = $3 where account_id = $1 and id = $2', [
      accountId,
      survivor,
      timesBefore(restored.properties),
    ]);
    await client.query(restoreLoser, [accountId, loser, mergeId]);
    await client.query(restoreAliases, [accountId, loser]);
    const taken = await restoreIdentities(client, accountId, { loser, mergeId });
    await client.query(markUndone, [accountId, mergeId, undoneBy]);
    await audit(client, [survivor, loser]);
    return { kind: 'split', survivor, loser, taken };
  });
  if (split.kind === 'split') await untilMemoriesKnow();
  return split;
}

/**
 * Empties the record, which may have data of visitors merged earlier. Once they are split as well, their erasure would
 * not find it.
 */
const markUndone = `
  update visitor_merges set undone_at = now(), undone_by = $3, loser_properties = '{}', loser_times = null,
    loser_identities = '[]', survivor_properties = '{}', survivor_times = null, merged_properties = '{}',
    merged_times = null
  where account_id = $1 and id = $2`;

type Merge = { readonly survivor: string; readonly loser: string; readonly isUndone: boolean };

async function selectMerge(db: Queryable, accountId: string, mergeId: string): Promise<Merge | undefined> {
  const { rows } = await db.query<{ survivor: string; loser: string; is_undone: boolean }>(
    `select survivor, loser, undone_at is not null as is_undone from visitor_merges
      where account_id = $1 and id = $2 for update`,
    [accountId, mergeId],
  );
  return rows[0] && { survivor: rows[0].survivor, loser: rows[0].loser, isUndone: rows[0].is_undone };
}

/** The survivor's newest later merge. */
async function laterMerge(
  db: Queryable,
  accountId: string,
  { survivor, mergeId }: { readonly survivor: string; readonly mergeId: string },
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `select o.id from visitor_merges m
      join visitor_merges o on o.account_id = $1 and o.number > m.number and o.undone_at is null
        and (o.survivor = $2 or o.loser = $2)
      where m.account_id = $1 and m.id = $3
      order by o.number desc limit 1`,
    [accountId, survivor, mergeId],
  );
  return rows[0]?.id;
}

/**
 * Gives recorded identities without an owner back to the loser, except for suppressed ones; returns the identities that
 * another visitor has now.
 */
async function restoreIdentities(
  db: Queryable,
  accountId: string,
  { loser, mergeId }: { readonly loser: string; readonly mergeId: string },
): Promise<readonly TakenIdentity[]> {
  const recorded = `
    select r.kind, r.value from visitor_merges m
    cross join lateral jsonb_to_recordset(m.loser_identities) as r (kind text, value text)
    where m.account_id = $1 and m.id = $2`;
  await db.query(
    `insert into visitor_identities (account_id, kind, value, visitor_id)
      select distinct $1::uuid, r.kind, r.value, $3 from (${recorded}) r
      where not exists (
        select from erasures e
        where e.account_id = $1 and e.hash = erasure_hash($1::uuid, r.kind, r.value) and e.suppressed
      )
      order by 2, 3
      on conflict do nothing`,
    [accountId, mergeId, loser],
  );
  const { rows } = await db.query<TakenIdentity>(
    `select r.kind, r.value, c.id as "visitorId"
      from (${recorded}) r
      join visitor_identities i on i.account_id = $1 and i.kind = r.kind and i.value = r.value and i.visitor_id <> $3
      cross join lateral (select id from (${selectChain('$1::uuid', 'i.visitor_id')}) c order by hop desc limit 1) c
      where c.id <> $3
      order by 1, 2`,
    [accountId, mergeId, loser],
  );
  return rows;
}
