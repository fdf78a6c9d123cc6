import type { PoolClient } from 'pg';

/**
 * Makes a transaction's statements look rows up by key. Left alone, PostgreSQL plans for the length of an array of
 * keys, or for a table that was nearly empty a minute ago, and reads whole tables.
 */
export async function goByKey(client: PoolClient): Promise<void> {
  await client.query(`set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off;
    set local enable_hashjoin = off; set local enable_mergejoin = off`);
}
