import type { Pool } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import { selectChain } from './alias-statements.ts';
import { holdForWriting } from './erasure-lock.ts';
import type { Queryable } from './visitor-statements.ts';

/** The account and the id of an alias. */
export type AliasRow = { readonly accountId: string; readonly id: string };

/** The id of the visitor that an id leads to; the id itself if it is unknown. */
export async function rootOf(db: Queryable, accountId: string, id: string): Promise<string> {
  for (let at = id; ;) {
    const { rows } = await db.query<{ id: string; merged_into: string | null }>({
      name: 'select-root',
      text: `select id, merged_into from (${selectChain('$1::uuid', '$2::text')}) c order by hop desc limit 1`,
      values: [accountId, at],
    });
    const [end] = rows;
    if (end === undefined || end.merged_into === null) return end?.id ?? at;
    at = end.merged_into;
  }
}

/**
 * Reads the chain of each alias, at most `aliasesMax` rows, and points all of its rows at the last one. Writes each row
 * once. `joined_to` keeps the previous target for a split.
 */
export async function shortenChains(pool: Pool, aliases: readonly AliasRow[]): Promise<void> {
  for (const { accountId, id } of aliases) {
    await inTransaction(pool, async (client) => {
      // Waits for an erasure, which walks the tree.
      await holdForWriting(client, [accountId]);
      await client.query({ name: 'shorten-chain', text: shortenStatement, values: [accountId, id] });
    });
  }
}

// Rows are locked in the order of their keys, as in every statement that writes several rows.
const shortenStatement = `
  with passed as materialized (${selectChain('$1::uuid', '$2::text')}),
  far_end as materialized (select id from passed order by hop desc limit 1),
  locked as materialized (
    select v.id
    from passed p join visitors v on v.account_id = $1::uuid and v.id = p.id and v.merged_into = p.merged_into
    where (select id from far_end) not in (p.id, p.merged_into)
    order by v.id for update of v
  )
  update visitors v set joined_to = coalesce(v.joined_to, v.merged_into), merged_into = (select id from far_end),
    version = v.version + 1
  from locked k where v.account_id = $1::uuid and v.id = k.id`;
