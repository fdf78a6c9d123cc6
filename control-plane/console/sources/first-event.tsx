import { useRef } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Change, Destination, Page, RecentEvent, Source } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Ago } from '../design/time.tsx';

/** The state of a source before its first event: not published, waiting, requested without an event, or just received. */
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
  return waited.current ? <Requested source={source} at={source.lastTriggeredAt} /> : null;
}

const readEveryMs = 2_000;
/** How long an event may take from its request to the list of events. */
const waitMs = 60_000;

/** A request alone is not an event: it may have been refused, or have read settings. */
function Requested({ source, at }: { readonly source: Source; readonly at: string }): ReactElement {
  const mayList = useScope('event:list');
  // Measured here, because the clock of the browser may differ from the server's.
  const requested = useRef({ at: '', seenAtMs: 0 });
  if (requested.current.at !== at) requested.current = { at, seenAtMs: performance.now() };
  const events = useRead<Page<RecentEvent>>(`/events?sourceId=${source.id}&limit=1`, {
    enabled: mayList,
    everyMs: readEveryMs,
    repeatsAfter: (page) =>
      (page?.entities.length ?? 0) === 0 && performance.now() - requested.current.seenAtMs < waitMs,
  });
  const event = events.data?.entities[0];
  if (event !== undefined) return <Arrived source={source} event={event} />;
  return (
    <div className="note accent" role="status">
      <State tone="warn">
        A request arrived <Ago at={at} />
        {mayList ? ', but no event yet.' : '. Seeing its events needs the scope event:list.'}
      </State>
      <ErrorNote error={events.error} />
      <p className="hint">
        {source.lastInvalid === null
          ? 'The answer to the request says whether its events were rejected.'
          : `Last rejected: ${source.lastInvalid.problem}`}
      </p>
    </div>
  );
}

function Arrived({ source, event }: { readonly source: Source; readonly event: RecentEvent }): ReactElement {
  const destinations = useList<Destination>('/destinations?limit=1', { enabled: useScope('destination:list') });
  return (
    <div className="note good" role="status">
      <State tone="good">
        Your first event arrived <Ago at={event.receivedAt} />:{' '}
        <Link to={`/events/${encodeURIComponent(event.id)}`}>{event.event}</Link>
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
