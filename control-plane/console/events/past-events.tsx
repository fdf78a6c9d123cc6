import { useEffect, useMemo, useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { EventSummary, OutcomeName, RecentEvent } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { readTime } from '../design/local-time.ts';
import { countOf, showCount } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { More } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { exportEvents, exportedMax } from './export-events.ts';
import { queryOf } from './event-filters.ts';
import type { EventFilters } from './event-filters.ts';
import { EventTable } from './event-table.tsx';
import { OlderEvents } from '../destinations/older-events.tsx';
import { outcomeWords } from './outcomes.tsx';

type PastEventsProps = { readonly filters: EventFilters; readonly nameOf: (sourceId: string) => string };

/** Maximum number of event ids in one replay. */
const retriedMax = 100;

/** Stored events that the filters select, with their number, an export, and a retry of chosen dead letters. */
export function PastEvents({ filters, nameOf }: PastEventsProps): ReactElement {
  // The last hour is counted back from its choice. A time that moves with the clock would request a new list.
  const query = useSettled(useMemo(() => queryOf(filters, Date.now()), [filters]));
  const join = query === '' ? '' : `&${query}`;
  const events = useList<RecentEvent>(`/events?limit=100${join}`);
  const fromMs = filters.range === 'custom' ? readTime(filters.from) : Number.NaN;
  const summary = useRead<EventSummary>(`/events/summary${query === '' ? '' : `?${query}`}`);
  const [progress, setProgress] = useState<number>();
  const exported = useChange((format: 'csv' | 'json') =>
    exportEvents(query, format, setProgress).finally(() => setProgress(undefined)),
  );
  const mayRetry = useScope('destination:update') && filters.destinationId !== '' && filters.outcome === 'rejected';
  const retry = useRetry(filters.destinationId);
  return (
    <Card
      title="Past events"
      isFlush
      aside={
        <span className="row">
          {(['csv', 'json'] as const).map((format) => (
            <button
              key={format}
              type="button"
              disabled={progress !== undefined}
              onClick={() => exported.mutate(format)}
            >
              Export {format.toUpperCase()}
            </button>
          ))}
        </span>
      }
    >
      <div className="body stack">
        <Waiting query={summary} />
        {summary.data === undefined ? null : <Summary summary={summary.data} />}
        {Number.isNaN(fromMs) ? null : <OlderEvents fromMs={fromMs} />}
        {progress === undefined ? null : (
          <p role="status">
            Exporting: {showCount(progress)} of at most {showCount(exportedMax)} …
          </p>
        )}
        <ErrorNote error={exported.error} />
        {mayRetry ? (
          <span className="row">
            <button type="button" disabled={retry.chosen.size === 0 || retry.isPending} onClick={retry.start}>
              Retry {countOf(retry.chosen.size, 'chosen event')}
            </button>
            <span role="status" className="hint">
              {retry.isDone
                ? 'A replay was started: see dead letters and replays of the destination.'
                : `${retriedMax} at a time`}
            </span>
          </span>
        ) : null}
        <ErrorNote error={retry.error} />
      </div>
      <Waiting query={events} />
      {events.isSuccess ? (
        <EventTable
          events={events.entities}
          nameOf={nameOf}
          destinationId={filters.destinationId}
          choice={mayRetry ? retry : undefined}
          onEnd={() => {
            if (events.hasNextPage && !events.isFetchingNextPage) void events.fetchNextPage();
          }}
        />
      ) : null}
      <More query={events} />
    </Card>
  );
}

function Summary({ summary }: { readonly summary: EventSummary }): ReactElement {
  const { events, kept, isSample, outcomes, since } = summary;
  const counted = (Object.entries(outcomes) as [OutcomeName, number][]).filter(([, count]) => count > 0);
  return (
    <>
      <p>
        <strong>{countOf(events, 'event')}</strong>
        {counted.map(([name, count]) => (
          <span key={name}>
            {' · '}
            {outcomeWords[name][1]}: {showCount(count)}
          </span>
        ))}
      </p>
      <p className="hint">
        {since === null ? (
          'No events are kept yet.'
        ) : (
          <>
            This view keeps events since <At at={since} />.{' '}
            {isSample
              ? `It shows a sample of the matching events: ${countOf(kept, 'kept event')}. The log has every event.`
              : 'It has every matching event since then.'}
          </>
        )}
      </p>
    </>
  );
}

function useRetry(destinationId: string) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const start = useChange((eventIds: readonly string[]) =>
    request('POST', `/destinations/${destinationId}/replay`, { what: 'dead-letters', eventIds }),
  );
  const { reset } = start;
  useEffect(() => {
    setChosen(new Set());
    reset();
  }, [destinationId, reset]);
  return {
    chosen,
    toggle(id: string): void {
      const next = new Set(chosen);
      if (!next.delete(id) && next.size < retriedMax) next.add(id);
      setChosen(next);
    },
    start: () => start.mutate([...chosen], { onSuccess: () => setChosen(new Set()) }),
    isPending: start.isPending,
    isDone: start.isSuccess,
    error: start.error,
  };
}
