import type { Queryable } from './visitor-statements.ts';

/**
 * Separates an erasure from writers of a visitor's data, so that no data of an erased visitor is written after the
 * erasure: the erasure sees an earlier writer, and a later writer sees the tombstone. Both hold the lock of the account
 * until their transaction ends; writers do not wait for each other.
 */
export async function holdForErasure(db: Queryable, accountId: string): Promise<void> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1::text, $2))', [accountId, lockSeed]);
}

/** The writer's side: waits for running erasures in these accounts, and new erasures wait for the writer. */
export async function holdForWriting(db: Queryable, accountIds: readonly string[]): Promise<void> {
  await db.query('select pg_advisory_xact_lock_shared(hashtextextended(k.id, $2)) from unnest($1::text[]) as k (id)', [
    accountIds,
    lockSeed,
  ]);
}

// Any number that is the same on both sides and that no other advisory lock uses.
const lockSeed = 7_305_212;
