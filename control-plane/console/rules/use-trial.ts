import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useAccounts } from '../api/accounts.ts';
import { request } from '../api/request.ts';
import type { Way } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';

/** Edited rules, by collection, that replace the stored ones in a trial. Nothing is stored. */
export type StandIns = {
  readonly [collection in 'mappings' | 'globalDispatchCenters' | 'allowedEvents']?: {
    readonly id: string;
    /** The edited fields; null to try the rules as if this rule were removed. */
    readonly fields: object | null;
  };
};

export type Ways = { readonly ways: readonly Way[] };

/** The placeholder id of a new rule; no real id has this form. */
export const newRuleId = '-';

/**
 * The draft's decisions about an event, with the edited rules. They are requested again when the user pauses typing.
 */
export function useTrial(eventId: string, standIns: StandIns, destinationId?: string): UseQueryResult<Ways> {
  const { current } = useAccounts();
  const asked = useSettled(JSON.stringify({ ...standIns, destinationId }));
  // The id is '' for a new mapping whose destination is not chosen yet.
  const body = JSON.parse(asked) as { readonly destinationId?: string };
  return useQuery<Ways>({
    queryKey: [current, 'trial', eventId, asked],
    queryFn: () => request<Ways>('POST', `/events/${encodeURIComponent(eventId)}/ways`, body),
    enabled: eventId !== '' && body.destinationId !== '',
    placeholderData: keepPreviousData,
  });
}
