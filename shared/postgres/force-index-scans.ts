import type { ClientBase } from 'pg';

/**
 * Makes a connection's statements look rows up by key. Left alone, PostgreSQL plans for the length of an array of keys,
 * or for a table that was nearly empty a minute ago, and reads whole tables.
 *
 * Plans are made when a session first asks and kept, so the order of joins is chosen for tables as they were then. Where
 * another order would do on an empty table, such as all rows of an account first, the statement has to rule it out: by
 * `offset 0` in a lateral query, or a `select … limit 1` in place of an `exists`. A test looks at its plan (`rowsLookedAt`).
 */
export async function forceIndexScans(client: ClientBase): Promise<void> {
  await client.query(`set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
    set enable_hashjoin = off; set enable_mergejoin = off`);
}
