import { useEffect, useRef } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Change, Destination, Page, RecentEvent, Source } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Ago } from '../design/time.tsx';

/** The state of a source before its first event: not published, waiting, or just received. */
export function FirstEvent({ source }: { readonly source: Source }): ReactElement | null {
  const waited = useRef(false);
  if (source.liveStatus === null) return <NotPublished />;
  if (source.liveStatus === 'Disabled') return null;
  if (source.lastTriggeredAt === null) {
    waited.current = true;
    return (
      <div className="note accent" role="status">
        <State tone="warn">Waiting for the first event …</State>
        <p className="hint">Send one as shown below. It appears here automatically.</p>
      </div>
    );
  }
  return waited.current ? <Arrived source={source} at={source.lastTriggeredAt} /> : null;
}

function Arrived({ source, at }: { readonly source: Source; readonly at: string }): ReactElement {
  const mayList = useScope('event:list');
  // The recent-events view is written only twice a second, so it might not contain the event yet.
  const events = useRead<Page<RecentEvent>>(`/events?sourceId=${source.id}&limit=1`, { enabled: mayList });
  const event = events.data?.entities[0];
  const { dataUpdatedAt, refetch } = events;
  const isMissing = mayList && events.isSuccess && event === undefined;
  useEffect(() => {
    if (!isMissing) return undefined;
    const timer = setTimeout(() => void refetch(), 500);
    return () => clearTimeout(timer);
  }, [isMissing, dataUpdatedAt, refetch]);
  const destinations = useList<Destination>('/destinations?limit=1', { enabled: useScope('destination:list') });
  return (
    <div className="note good" role="status">
      <State tone="good">
        Your first event arrived <Ago at={at} />
        {event === undefined ? '.' : ': '}
        {event === undefined ? null : <Link to={`/events/${encodeURIComponent(event.id)}`}>{event.event}</Link>}
      </State>
      <p>
        Next:{' '}
        {destinations.isSuccess && destinations.entities.length === 0 ? (
          <>
            <Link to="/destinations/new">add a destination</Link>, or see{' '}
          </>
        ) : (
          'see '
        )}
        <Link to={`/events?sourceId=${source.id}`}>the events of this source</Link>.
      </p>
    </div>
  );
}

/**
 * A note that the source accepts no events yet. If all changes of the draft are to sources, it offers to publish them
 * immediately.
 */
function NotPublished(): ReactElement {
  const mayPublish = useScope('version:publish');
  const maySee = useScope('version:find');
  const draft = useRead<{ readonly changes: readonly Change[] }>('/versions/draft/changes', { enabled: maySee });
  const publish = useChange(() => request('POST', '/versions', { publish: true }));
  const changes = draft.data?.changes ?? [];
  const isSourcesOnly = changes.length > 0 && changes.every(({ collection }) => collection === 'sources');
  return (
    <div className="note warn">
      <p>This source does not accept events yet: it is not in the live version.</p>
      <ErrorNote error={publish.error} />
      <div className="row">
        {isSourcesOnly && mayPublish ? (
          <button
            type="button"
            className="primary"
            disabled={publish.isPending}
            onClick={() => publish.mutate(undefined)}
          >
            {publish.isPending ? 'Publishing …' : `Publish ${countOf(changes.length, 'change')}`}
          </button>
        ) : (
          <Link className="button primary" to="/draft">
            Review and publish the draft
          </Link>
        )}
      </div>
    </div>
  );
}
