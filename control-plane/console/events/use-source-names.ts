import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import type { Source } from '../api/types.ts';

/** What a source is called, by its id; the id itself where that is not known. */
export function useSourceNames(): (sourceId: string) => string {
  const mayList = useScope('source:list');
  const sources = useList<Source>('/sources?limit=100', { enabled: mayList });
  return (sourceId) => {
    const source = sources.entities.find(({ id }) => id === sourceId);
    return source?.name ?? source?.type ?? sourceId;
  };
}
