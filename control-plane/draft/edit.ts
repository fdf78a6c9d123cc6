import type { Actor } from '../keys/actor.ts';
import type { Services } from '../services.ts';
import type { Editing } from './edit-entities.ts';

/** Runs an edit in one transaction: all of it is kept, or nothing. */
export function edit<Result>(
  services: Services,
  actor: Actor,
  work: (editing: Editing) => Promise<Result>,
): Promise<Result> {
  return services.storage.fork().transactional((em) => work({ em, actor, now: services.now() }));
}
