import type { ClientBase } from 'pg';

/**
 * Makes a connection's statements look rows up by key. Left alone, PostgreSQL plans for the length of an array of keys,
 * or for a table that was nearly empty a minute ago, and reads whole tables.
 */
export async function forceIndexScans(client: ClientBase): Promise<void> {
  await client.query(`set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
    set enable_hashjoin = off; set enable_mergejoin = off`);
}
