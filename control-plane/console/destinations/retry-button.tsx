import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { ErrorNote } from '../design/feedback.tsx';

type RetryButtonProps = { readonly destinationId: string; readonly eventId: string };

/** Sends one dead letter to its destination again. */
export function RetryButton({ destinationId, eventId }: RetryButtonProps): ReactElement | null {
  const mayRetry = useScope('destination:update');
  const retry = useChange((body: object) => request('POST', `/destinations/${destinationId}/replay`, body));
  if (!mayRetry) return null;
  return (
    <span className="row">
      <button
        type="button"
        disabled={retry.isPending || retry.isSuccess}
        onClick={() => retry.mutate({ what: 'dead-letters', eventIds: [eventId] })}
      >
        Retry this event
      </button>
      {retry.isSuccess ? (
        <span role="status">
          <Link to={`/destinations/${destinationId}/dead-letters`}>A replay was started</Link>
        </span>
      ) : null}
      <ErrorNote error={retry.error} />
    </span>
  );
}
