import { useRead } from './queries.ts';
import type { DestinationType, SourceType } from './types.ts';

/** A destination or a source, as far as its name goes. */
export type Named = { readonly id: string; readonly name: string | null; readonly type: string };

/** What destinations or sources are called: their name, or that of their kind where one has none. */
export function useNameOf(of: 'destinations' | 'sources', entities: readonly Named[]): (one: Named) => string {
  const kinds = useRead<{ readonly entities: readonly (DestinationType | SourceType)[] }>(`/${of}/types`, {
    enabled: entities.some(isNameless),
  });
  return (one) =>
    isNameless(one) ? (kinds.data?.entities.find(({ id }) => id === one.type)?.label ?? one.type) : (one.name ?? '');
}

const isNameless = ({ name }: Named): boolean => name === null || name === '';
