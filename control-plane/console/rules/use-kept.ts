import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Kept } from './rule.ts';

export type KeptCollection =
  | 'mappings'
  | 'globalDispatchCenters'
  | 'allowedEvents'
  | 'consentSettings'
  | 'dataGovernanceRules'
  | 'dataGovernanceEvents';

export type KeptRule<Fields> = {
  readonly query: UseQueryResult<Kept<Fields>>;
  readonly mayChange: boolean;
  readonly mayRemove: boolean;
  readonly save: UseMutationResult<Kept<Fields>, Error, Fields>;
  readonly remove: UseMutationResult<unknown, Error, undefined>;
};

/** Reads, saves and removes a rule of the draft; without an id, saving creates a new rule. */
export function useKept<Fields>(collection: KeptCollection, id: string | undefined): KeptRule<Fields> {
  const path = `/collections/${collection}`;
  const one = `${path}/${encodeURIComponent(id ?? '')}`;
  const query = useRead<Kept<Fields>>(one, { enabled: id !== undefined });
  const mayChange = useScope(`${collection}:${id === undefined ? 'create' : 'update'}`);
  const mayRemove = useScope(`${collection}:delete`) && id !== undefined;
  const save = useChange((fields: Fields) =>
    id === undefined ? request<Kept<Fields>>('POST', path, fields) : request<Kept<Fields>>('PATCH', one, fields),
  );
  const remove = useChange((_none: undefined) => request('DELETE', one));
  return { query, mayChange, mayRemove, save, remove };
}
