import type { EntityManager } from '@mikro-orm/postgresql';
import { conflict } from '../api/api-error.ts';
import type { AccountLimits } from '../store/account-limits.ts';

/**
 * Throws a 409 that names the limit if the draft exceeds the account's quota after this edit. Call it after every
 * change that may enlarge the draft.
 */
export async function refuseBeyondQuota(
  em: EntityManager,
  accountId: string,
  { entitiesMax, draftBytesMax }: AccountLimits,
): Promise<void> {
  await em.flush();
  const [draft] = await em.execute<{ entities: number; bytes: number }[]>(
    `select count(*)::int as entities, coalesce(sum(octet_length(body::text)), 0)::float8 as bytes
     from entities where account_id = ?`,
    [accountId],
  );
  if (draft !== undefined && draft.entities > entitiesMax) {
    throw conflict(`an account may have ${entitiesMax} entities (ACCOUNT_ENTITIES_MAX): delete others first`);
  }
  if (draft !== undefined && draft.bytes > draftBytesMax) {
    throw conflict(`the draft of an account may hold ${draftBytesMax} bytes (ACCOUNT_DRAFT_BYTES_MAX)`);
  }
}
