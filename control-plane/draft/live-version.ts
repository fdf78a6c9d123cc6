import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../shared/postgres/entities/account.ts';

/** The id of the version the account runs, if it has published one. */
export async function liveVersionId(em: EntityManager, accountId: string): Promise<string | undefined> {
  const account = await em.findOneOrFail(Account, { id: accountId }, { refresh: true });
  return account.liveVersionId ?? undefined;
}
