import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useAccounts, useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { JsonObject, RuleMatches } from '../api/types.ts';
import { knownPaths } from './known-paths.ts';
import type { EventPaths, KnownPaths } from './known-paths.ts';
import { useSettled } from '../api/use-settled.ts';

/** Paths of the account's recent events. */
export function useKnownPaths(): KnownPaths {
  const mayRead = useScope('event:list');
  return knownPaths(useRead<EventPaths>('/rules/paths', { enabled: mayRead }).data);
}

/**
 * Counts the events of the last day that match a condition. The count is requested again when the user pauses typing.
 */
export function useMatches(logic: JsonObject | null): UseQueryResult<RuleMatches> {
  const { current } = useAccounts();
  const mayRead = useScope('event:list');
  const asked = useSettled(JSON.stringify({ logic }));
  return useQuery<RuleMatches>({
    queryKey: [current, 'matches', asked],
    queryFn: () => request<RuleMatches>('POST', '/rules/matches', JSON.parse(asked)),
    enabled: mayRead,
    placeholderData: keepPreviousData,
    retry: false,
  });
}
