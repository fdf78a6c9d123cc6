import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import type { PublishedDestination } from '../../../shared/routing/published-destinations.ts';
import { publishedDestinations } from '../../../shared/routing/published-destinations.ts';
import { findSourceKind } from '../../../shared/sources/registry.ts';

/**
 * The destinations of an account's live version, and its sources whose notices are followed. For a dispatcher, such a
 * source is a destination that gets only the source's own events.
 */
export function dispatchedTo(config: LiveConfig): PublishedDestination[] {
  return [...publishedDestinations(config), ...noticeSources(config)];
}

/**
 * The sources that have a token for fetching. Unreadable sources are included, so that their position in the log is
 * kept.
 */
export function noticeSources({ accountId, collections, unreadable }: LiveConfig): PublishedDestination[] {
  const known = collections.sources
    .filter(({ type, accessToken }) => fetches(type, accessToken))
    .map(({ id, type, name, status }) => ({
      ...sourceAsDestination(accountId, id, type),
      name: name ?? '',
      isEnabled: status === 'Enabled',
    }));
  const lost = unreadable
    .filter(({ collection, isDefaulted }) => collection === 'sources' && !isDefaulted)
    .filter(({ id, entity }) => fetches(entity['type'], entity['accessToken']) && !known.some((one) => one.id === id))
    .map(({ id, entity, field }) => ({
      ...sourceAsDestination(accountId, id, String(entity['type'])),
      unreadable: field,
    }));
  return [...known, ...new Map(lost.map((source) => [source.id, source])).values()];
}

function fetches(type: unknown, accessToken: unknown): boolean {
  return typeof accessToken === 'string' && typeof type === 'string' && findSourceKind(type)?.fetch !== undefined;
}

function sourceAsDestination(accountId: string, id: string, type: string): PublishedDestination {
  return {
    id,
    accountId,
    type,
    name: '',
    isEnabled: true,
    settings: {},
    limitedToSourceIds: new Set([id]),
    hashingSalt: undefined,
    unreadable: undefined,
  };
}
