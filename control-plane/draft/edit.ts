import type { Actor } from '../keys/actor.ts';
import type { Services } from '../services.ts';
import { lockAccount } from './account-lock.ts';
import type { Editing } from './edit-entities.ts';

/**
 * Runs an edit in one transaction, alone among the edits of its account: all of it is kept, or nothing. Its time is
 * taken when its turn has come, so that times are in the order of the edits.
 */
export function edit<Result>(
  services: Services,
  actor: Actor,
  work: (editing: Editing) => Promise<Result>,
): Promise<Result> {
  return services.storage.fork().transactional(async (em) => {
    await lockAccount(em, actor.accountId);
    return work({ em, actor, now: services.now() });
  });
}
