import { readTime } from '../design/local-time.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The ranges that can be chosen, in addition to a custom one. */
export const deliveryRanges: Readonly<Record<string, readonly [label: string, ms: number]>> = {
  '10m': ['Last 10 minutes', 10 * minuteMs],
  '1h': ['Last hour', hourMs],
  '24h': ['Last 24 hours', dayMs],
  '7d': ['Last 7 days', 7 * dayMs],
};
export const usualRange = '24h';

export type RangeMs = { readonly fromMs: number; readonly toMs: number };

/**
 * The range in the page's query; undefined if it is invalid. Without an offset, a time is in the viewer's zone. A missing
 * start means a day before the end; a missing end means now. The current time is rounded up to a minute; otherwise each
 * render would have another range.
 */
export function readRange(search: URLSearchParams, nowMs: number): RangeMs | undefined {
  const endMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  const range = search.get('range') ?? usualRange;
  if (range !== 'custom') {
    const [, lengthMs] = deliveryRanges[range] ?? ['', dayMs];
    return { fromMs: endMs - lengthMs, toMs: endMs };
  }
  const [from, to] = [search.get('from') ?? '', search.get('to') ?? ''];
  const toMs = to === '' ? endMs : readTime(to);
  const fromMs = from === '' ? toMs - dayMs : readTime(from);
  return fromMs < toMs ? { fromMs, toMs } : undefined;
}

export type EventsOf = RangeMs & {
  readonly destinationId: string;
  readonly outcome?: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop' | undefined;
  readonly name?: string | undefined;
};

/** Address of the list of the events that a count covers. */
export function eventsLink({ destinationId, outcome, name, fromMs, toMs }: EventsOf): string {
  const query = new URLSearchParams({ view: 'before', destinationId });
  if (outcome !== undefined) query.set('outcome', outcome);
  if (name !== undefined) query.set('name', name);
  query.set('range', 'custom');
  query.set('from', new Date(fromMs).toISOString());
  query.set('to', new Date(toMs).toISOString());
  return `/events?${query.toString()}`;
}
