import type { Pool, PoolClient } from 'pg';

/**
 * Makes a transaction's statements look rows up by key. Left alone, PostgreSQL plans for the length of an array of
 * keys, or for a table that was nearly empty a minute ago, and reads whole tables.
 */
export async function goByKey(client: PoolClient): Promise<void> {
  await client.query(byKey('set local'));
}

/** The same for every statement of a pool, whose connections serve nothing else. */
export function lookUpByKey(pool: Pool, onError: (error: Error) => void): void {
  // A client runs its queries in order, so this one is through before the first of whoever gets the connection.
  pool.on('connect', (client) => void client.query(byKey('set')).catch(onError));
}

const byKey = (set: string): string => `${set} plan_cache_mode = force_generic_plan; ${set} enable_seqscan = off;
  ${set} enable_hashjoin = off; ${set} enable_mergejoin = off`;
