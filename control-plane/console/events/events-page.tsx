import type { ReactElement } from 'react';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';
import { Page } from '../design/page.tsx';
import { filterNames, needsPast, readFilters } from './event-filters.ts';
import { FilterForm } from './filter-form.tsx';
import { LiveEvents } from './live-events.tsx';
import { PastEvents } from './past-events.tsx';
import { SavedViews } from './saved-views.tsx';
import { useSourceNames } from './use-source-names.ts';

/** Live or past events, filtered. */
export function EventsPage(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const filters = useMemo(() => readFilters(search), [search]);
  const isLive = search.get('view') !== 'before' && !needsPast(filters);
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  const saved = new URLSearchParams(
    filterNames.flatMap((name) => (filters[name] === '' ? [] : [[name, filters[name]]])),
  );
  const follow = (): void => {
    const next = new URLSearchParams(search);
    for (const name of ['view', 'range', 'from', 'to', 'property', 'value']) next.delete(name);
    setSearch(next, { replace: true });
  };
  const nameOf = useSourceNames();
  return (
    <Page
      title="Events"
      lead={isLive ? 'New events as they arrive.' : 'Past events, newest first, by event time.'}
      actions={
        <span className="row">
          <Link to="/events/search">Search the log</Link>
          <button type="button" onClick={() => (isLive ? choose('view', 'before') : follow())}>
            {isLive ? 'Show past events' : 'Follow live'}
          </button>
        </span>
      }
    >
      <FilterForm filters={filters} choose={choose} />
      <SavedViews query={saved.toString()} apply={(query) => setSearch(new URLSearchParams(query))} />
      {isLive ? <LiveEvents filters={filters} nameOf={nameOf} /> : <PastEvents filters={filters} nameOf={nameOf} />}
    </Page>
  );
}
