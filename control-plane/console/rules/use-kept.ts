import type { UseMutationResult } from '@tanstack/react-query';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { useSave } from '../forms/use-save.ts';
import type { Kept } from './rule.ts';

export type KeptCollection =
  | 'mappings'
  | 'globalDispatchCenters'
  | 'allowedEvents'
  | 'consentSettings'
  | 'dataGovernanceRules'
  | 'dataGovernanceEvents';

export type KeptRule<Fields> = {
  readonly mayChange: boolean;
  readonly mayRemove: boolean;
  readonly save: UseMutationResult<Kept<Fields>, Error, Fields>;
  readonly remove: UseMutationResult<unknown, Error, undefined>;
};

/** The path of one rule of the draft. */
export const keptPath = (collection: KeptCollection, id: string): string =>
  `/collections/${collection}/${encodeURIComponent(id)}`;

/**
 * Saves and removes a rule of the draft that its form began with as `initial`; without an id, saving creates a new rule.
 */
export function useKept<Fields extends object>(
  collection: KeptCollection,
  id: string | undefined,
  initial: Fields,
): KeptRule<Fields> {
  const one = keptPath(collection, id ?? '');
  const mayChange = useScope(`${collection}:${id === undefined ? 'create' : 'update'}`);
  const mayRemove = useScope(`${collection}:delete`) && id !== undefined;
  const save = useSave(initial, (changed, fields) =>
    id === undefined
      ? request<Kept<Fields>>('POST', `/collections/${collection}`, fields)
      : request<Kept<Fields>>('PATCH', one, changed),
  );
  const remove = useChange((_none: undefined) => request('DELETE', one));
  return { mayChange, mayRemove, save, remove };
}
