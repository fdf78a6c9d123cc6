import type { Queryable } from './visitor-statements.ts';

/**
 * Keeps an erasure and the writers of what belongs to visitors apart, so that nothing of an erased visitor is written
 * behind the erasure's back: a writer that comes first is seen by the erasure, one that comes later sees the
 * tombstone. Both hold the lock of the account until their transaction ends; writers do not wait for each other.
 */
export async function holdForErasure(db: Queryable, accountId: string): Promise<void> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1::text, $2))', [accountId, lockSeed]);
}

/** The writer's side: waits for erasures under way in these accounts and keeps new ones waiting. */
export async function holdForWriting(db: Queryable, accountIds: readonly string[]): Promise<void> {
  await db.query('select pg_advisory_xact_lock_shared(hashtextextended(k.id, $2)) from unnest($1::text[]) as k (id)', [
    accountIds,
    lockSeed,
  ]);
}

// Any number, the same for both sides, so that other users of advisory locks do not meet these.
const lockSeed = 7_305_212;
