import type { ClientBase } from 'pg';

/**
 * Makes a connection's statements look rows up by key. By default PostgreSQL may read whole tables: its plans depend on
 * the length of an array of keys, and on the size of a table that may have been nearly empty a minute ago.
 *
 * A session plans a statement at its first use and keeps the plan, including the order of joins that suited the tables
 * at that time. If another order, such as reading all rows of an account first, costs as little on empty tables, the
 * statement must rule it out: by `offset 0` in a lateral query, or by `select … limit 1` instead of `exists`. A test
 * reads the plan (`rowsLookedAt`).
 */
export async function forceIndexScans(client: ClientBase): Promise<void> {
  await client.query(`set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
    set enable_hashjoin = off; set enable_mergejoin = off`);
}
