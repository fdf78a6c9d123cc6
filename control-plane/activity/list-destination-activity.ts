import type { Page, PageQuery, Paginator } from '../api/pagination.ts';
import { pageInMemory } from '../api/page-in-memory.ts';
import { loadDraft } from '../draft/entity-store.ts';
import type { LiveValues } from '../health/live-values.ts';
import type { LogFigures } from '../health/log-figures.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { liveContent } from '../versions/version-store.ts';
import { summarizeDestinations, urgencyOf } from './summarize-destinations.ts';
import type { DestinationSummary } from './summarize-destinations.ts';

export const destinationStates = ['live', 'failing', 'off'] as const;

export type DestinationFilters = {
  readonly id?: string;
  readonly nameContains?: string;
  readonly state?: (typeof destinationStates)[number];
};

export type ListServices = {
  readonly storage: Storage;
  readonly paginator: Paginator;
  readonly liveValues: LiveValues;
  readonly logFigures: { read(): Promise<LogFigures> };
  now(): Date;
};

/** A page of destinations, the most urgent first, and the number of destinations that the filters select. */
export async function listDestinationActivity(
  { storage, paginator, liveValues, logFigures, now }: ListServices,
  accountId: string,
  { id, nameContains, state, ...page }: DestinationFilters & PageQuery,
): Promise<Page<DestinationSummary> & { readonly total: number }> {
  const [draft, live, figures] = await Promise.all([
    loadDraft(storage.fork(), accountId, 'destinations'),
    liveContent(storage.fork(), accountId, 'destinations'),
    logFigures.read(),
  ]);
  const filters = { id, nameContains, state };
  const wanted = nameContains?.trim().toLowerCase() ?? '';
  const only = <Entity extends { readonly id: string }>(all: readonly Entity[]): readonly Entity[] =>
    id === undefined ? all : all.filter((one) => one.id === id);
  const configured = {
    draft: { destinations: only(draft.destinations) },
    live: { destinations: only(live.destinations) },
  };
  const rows = summarizeDestinations(configured, { liveValues, figures, nowMs: now().getTime() }).filter(
    (one) => `${one.name} ${one.label} ${one.type}`.toLowerCase().includes(wanted) && isIn(one, state),
  );
  const order = {
    position: (one: DestinationSummary) => [-urgencyOf(one), one.name.toLowerCase(), one.id],
    direction: 'ascending',
  } as const;
  const list = { list: 'destination activity', accountId, filters };
  return { ...pageInMemory(paginator, page, list, { rows, order, view: (row) => row }), total: rows.length };
}

function isIn(one: DestinationSummary, state: DestinationFilters['state']): boolean {
  switch (state) {
    case undefined:
      return true;
    case 'live':
      return one.isLive;
    case 'off':
      return !one.isLive;
    case 'failing':
      return urgencyOf(one) > 0;
  }
}
