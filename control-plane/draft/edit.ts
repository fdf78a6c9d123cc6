import type { Principal } from '../api/principal.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import { lockAccount } from '../store/account-lock.ts';
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
