import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Waits until this transaction is the only one that changes the account's configuration. Edits, versions and
 * publishes of one account happen one after the other, so none of them can miss another; readers never wait.
 */
export async function lockAccount(em: EntityManager, accountId: string): Promise<void> {
  await em.execute('select 1 from accounts where id = ? for no key update', [accountId]);
}
