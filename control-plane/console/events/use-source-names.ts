import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { useNameOf } from '../api/use-name-of.ts';
import type { Named } from '../api/use-name-of.ts';

/** Returns a function for the name of a source by id; the id itself if the name is unknown. */
export function useSourceNames(): (sourceId: string) => string {
  const mayList = useScope('source:list');
  const sources = useList<Named>('/sources?limit=100', { enabled: mayList });
  const nameOf = useNameOf('sources', sources.entities);
  return (sourceId) => {
    const source = sources.entities.find(({ id }) => id === sourceId);
    return source === undefined ? sourceId : nameOf(source);
  };
}
