import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { useNameOf } from '../api/use-name-of.ts';
import type { Named } from '../api/use-name-of.ts';

/**
 * Returns a function from the id of a destination to its name; the name is undefined unless the destination is one of
 * the newest 100.
 */
export function useDestinationNames(): (destinationId: string) => string | undefined {
  const mayList = useScope('destination:list');
  const destinations = useList<Named>('/destinations?limit=100', { enabled: mayList });
  const nameOf = useNameOf('destinations', destinations.entities);
  return (destinationId) => {
    const destination = destinations.entities.find(({ id }) => id === destinationId);
    return destination === undefined ? undefined : nameOf(destination);
  };
}
