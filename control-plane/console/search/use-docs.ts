import { useQuery } from '@tanstack/react-query';
import type MiniSearch from 'minisearch';
// The options with which the build of the documentation made the search index.
import { searchOptions } from 'docs/search-options';
import type { FoundSection } from 'docs/search-options';

/** A search result; `what` is its type in words, `to` its address. */
export type FoundPlace = { readonly label: string; readonly what: string; readonly to: string };

const root = '/docs/';

/** Sections of the documentation that match the text, the best first. A build without documentation has none. */
export function useDocs(typed: string): {
  readonly found: readonly FoundPlace[];
  readonly error: unknown;
  readonly isLoading: boolean;
} {
  const { data, error, isLoading } = useQuery({
    queryKey: ['docs'],
    queryFn: loadIndex,
    enabled: typed !== '',
    staleTime: Infinity,
  });
  if (typed === '' || data === undefined || data === null) return { found: [], error, isLoading };
  const sections = data.search(typed) as unknown as readonly FoundSection[];
  // Destination pages share their headings: only the best match of each heading is shown.
  const byHeading = new Map(sections.toReversed().map((section) => [section.heading || section.page, section]));
  return { found: [...byHeading.values()].toReversed().map(placeOf), error, isLoading };
}

function placeOf({ id, page, heading }: FoundSection): FoundPlace {
  const what = heading === '' ? 'Documentation' : `Documentation, ${page}`;
  return { label: heading === '' ? page : heading, what, to: root + id };
}

async function loadIndex(): Promise<MiniSearch | null> {
  const [answer, { default: Search }] = await Promise.all([fetch(`${root}search.json`), import('minisearch')]);
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`Loading the index of the documentation failed: status ${answer.status}.`);
  return Search.loadJSONAsync(await answer.text(), searchOptions);
}
