import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { VersionImpact } from '../api/types.ts';
import { ComparedRequests } from '../design/compared-requests.tsx';
import type { ComparedSide } from '../design/compared-requests.tsx';
import { Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { At } from '../design/time.tsx';

type DestinationImpact = VersionImpact['destinations'][number];
type Sample = DestinationImpact['samples'][number];

/** How a version, or the draft, would change the requests for recent events. */
export function ImpactCard({ versionId }: { readonly versionId: string }): ReactElement | null {
  const maySee = useScope('version:find') && useScope('event:list');
  const [isAsked, setAsked] = useState(false);
  const query = useRead<VersionImpact>(`/versions/${versionId}/impact?samples=true`, { enabled: isAsked });
  if (!maySee) return null;
  return (
    <Card title="Effect on recent events">
      {isAsked ? (
        <div className="stack" aria-live="polite">
          <Waiting query={query} />
          {query.data === undefined ? null : <Impact impact={query.data} />}
          <div className="row">
            <button type="button" disabled={query.isFetching} onClick={() => void query.refetch()}>
              {query.isFetching ? 'Comparing …' : 'Compare again'}
            </button>
          </div>
        </div>
      ) : (
        <>
          <p className="soft">Compares these rules with the live ones on the newest 200 events. Nothing is sent.</p>
          <div className="row">
            <button type="button" onClick={() => setAsked(true)}>
              Try on recent events
            </button>
          </div>
        </>
      )}
    </Card>
  );
}

function Impact({
  impact: { examined, isSample, isComplete, since, destinations },
}: {
  readonly impact: VersionImpact;
}) {
  if (examined === 0) return <p>There are no recent events to compare.</p>;
  return (
    <>
      <p>
        {destinations.length === 0
          ? `No requests change, based on ${countOf(examined, 'recent event')}`
          : `Requests to ${countOf(destinations.length, 'destination')} change, based on ${countOf(examined, 'recent event')}`}
        {since === null ? null : (
          <>
            {' '}
            since <At at={since} />
          </>
        )}
        .{isSample ? ' The events are a sample.' : null}
        {isComplete ? null : ' Older events were not compared, to save time.'}
      </p>
      {destinations.map((one) => (
        <DestinationChange key={one.destinationId} destination={one} />
      ))}
    </>
  );
}

function DestinationChange({ destination }: { readonly destination: DestinationImpact }): ReactElement {
  const { name, changed, added, removed, samples } = destination;
  const counts = [
    changed === 0 ? undefined : `${countOf(changed, 'request')} changed`,
    added === 0 ? undefined : `${countOf(added, 'event')} newly sent`,
    removed === 0 ? undefined : `${countOf(removed, 'event')} no longer sent`,
  ].filter((part) => part !== undefined);
  return (
    <details>
      <summary>
        <strong dir="auto">{name}</strong>: {counts.join(', ')}
      </summary>
      <div className="stack">
        {samples.map((sample) => (
          <div key={sample.eventId} className="stack tight">
            <Link className="clip" dir="auto" to={`/events/${encodeURIComponent(sample.eventId)}`}>
              {sample.event}
            </Link>
            <ComparedRequests
              before={sideOf('Live now', sample.before)}
              after={sideOf('With these changes', sample.after)}
            />
          </div>
        ))}
      </div>
    </details>
  );
}

function sideOf(title: string, way: Sample['before']): ComparedSide {
  if (way === null) return { title, request: null, note: 'The destination does not exist.' };
  return { title, request: way.request, note: way.request === null ? way.why : null };
}
