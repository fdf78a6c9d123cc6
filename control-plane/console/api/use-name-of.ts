import { useRead } from './queries.ts';
import type { DestinationType, SourceType } from './types.ts';

/** The fields of a destination or source from which its displayed name is made. */
export type Named = { readonly id: string; readonly name: string | null; readonly type: string };

/** Returns a function for the displayed names of destinations or sources: the name, else the label of the kind. */
export function useNameOf(of: 'destinations' | 'sources', entities: readonly Named[]): (one: Named) => string {
  const kinds = useRead<{ readonly entities: readonly (DestinationType | SourceType)[] }>(`/${of}/types`, {
    enabled: entities.some(isNameless),
  });
  return (one) =>
    isNameless(one) ? (kinds.data?.entities.find(({ id }) => id === one.type)?.label ?? one.type) : (one.name ?? '');
}

const isNameless = ({ name }: Named): boolean => name === null || name === '';
