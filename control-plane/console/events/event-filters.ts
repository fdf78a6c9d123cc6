import type { OutcomeName, RecentEvent } from '../api/types.ts';
import { readTime } from '../design/local-time.ts';

export const filterNames = [
  'destinationId',
  'outcome',
  'name',
  'sourceId',
  'visitorId',
  'property',
  'value',
  'range',
  'from',
  'to',
] as const;

/** Filters of the event list, from the query of the page's address; '' if not set. */
export type EventFilters = Readonly<Record<(typeof filterNames)[number], string>>;

export const ranges: Readonly<Record<string, readonly [label: string, ms: number]>> = {
  '10m': ['Last 10 minutes', 600_000],
  '1h': ['Last hour', 3_600_000],
  '6h': ['Last 6 hours', 6 * 3_600_000],
  '24h': ['Last 24 hours', 86_400_000],
};

export function readFilters(search: URLSearchParams): EventFilters {
  return Object.fromEntries(filterNames.map((name) => [name, search.get(name) ?? ''])) as EventFilters;
}

/** Whether a filter is set that the browser cannot apply to the newest events itself. */
export const needsPast = ({ range, from, to, property }: EventFilters): boolean =>
  [range, from, to, property].some((text) => text !== '');

/** The filters as a query of the API. A range such as the last hour ends at `nowMs`. An invalid time is left out. */
export function queryOf(filters: EventFilters, nowMs: number): string {
  const { range, from: _from, to: _to, ...rest } = filters;
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== ''));
  const lengthMs = ranges[range]?.[1];
  if (lengthMs !== undefined) query.set('from', new Date(nowMs - lengthMs).toISOString());
  for (const end of ['from', 'to'] as const) {
    const atMs = readTime(filters[end]);
    if (range === 'custom' && !Number.isNaN(atMs)) query.set(end, new Date(atMs).toISOString());
  }
  if (!query.has('property')) query.delete('value');
  return query.toString();
}

/** Whether one of the newest events passes the filters, by the rules of the API. */
export function fits(event: RecentEvent, { sourceId, name, visitorId, outcome, destinationId }: EventFilters): boolean {
  const isWanted = (one: RecentEvent['outcomes'][number]): boolean =>
    (outcome === '' || one.outcome === (outcome as OutcomeName)) &&
    (destinationId === '' || one.destinationId === destinationId);
  return (
    (sourceId === '' || event.sourceId === sourceId) &&
    event.event.toLowerCase().includes(name.toLowerCase()) &&
    (visitorId === '' || event.visitorId === visitorId) &&
    ((outcome === '' && destinationId === '') || event.outcomes.some(isWanted))
  );
}
