import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../api/principal.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import type { Editing } from './edit-entities.ts';

/**
 * Runs an edit in one transaction, alone among the edits of its account: all of it is kept, or nothing. Its time is
 * taken when its turn has come, so that times are in the order of the edits.
 */
export function edit<Result>(
  services: CoreServices,
  principal: Principal,
  work: (editing: Editing) => Promise<Result>,
): Promise<Result> {
  return services.storage.fork().transactional(async (em) => {
    await lockAccount(em, principal.accountId);
    return work({ em, principal, now: services.now() });
  });
}

/**
 * Waits until this transaction is the only one that changes the account's configuration. Edits, versions and
 * publishes of one account happen one after the other, so none of them can miss another; readers never wait.
 */
export async function lockAccount(em: EntityManager, accountId: string): Promise<void> {
  await em.execute('select 1 from accounts where id = ? for no key update', [accountId]);
}
