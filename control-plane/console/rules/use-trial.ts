import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useAccounts } from '../api/accounts.ts';
import { request } from '../api/request.ts';
import type { Way } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';

/** Rules as they are written in the page, by their collections; nothing of them is stored. */
export type StandIns = {
  readonly [collection in 'mappings' | 'globalDispatchCenters' | 'allowedEvents']?: {
    readonly id: string;
    /** Null: as if it were removed. */
    readonly fields: object | null;
  };
};

export type Ways = { readonly ways: readonly Way[] };

/** What a rule that is new is called until it is kept: no id that is given has this form. */
export const newRuleId = '-';

/** What the draft would do with an event if the rule were as written now. Asked again when typing pauses. */
export function useTrial(eventId: string, standIns: StandIns, destinationId?: string): UseQueryResult<Ways> {
  const { current } = useAccounts();
  const asked = useSettled(JSON.stringify({ ...standIns, destinationId }));
  return useQuery<Ways>({
    queryKey: [current?.accountId, 'trial', eventId, asked],
    queryFn: () => request<Ways>('POST', `/events/${encodeURIComponent(eventId)}/ways`, JSON.parse(asked)),
    enabled: eventId !== '',
    placeholderData: keepPreviousData,
  });
}
