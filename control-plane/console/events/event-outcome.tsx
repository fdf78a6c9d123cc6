import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { EventExchange, RecentEvent } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { ErrorLine, ExchangeView } from '../design/shown-exchange.tsx';
import { Ago } from '../design/time.tsx';
import { RetryButton } from '../destinations/retry-button.tsx';
import { ConsentAnswers } from './consent-answers.tsx';
import { OutcomeState } from './outcomes.tsx';

type EventOutcomeProps = {
  readonly eventId: string;
  readonly outcome: RecentEvent['outcomes'][number];
  readonly destinationName: string;
};

/** The outcome of an event at one destination, with the platform's response to a failed attempt. */
export function EventOutcome({ eventId, outcome: one, destinationName }: EventOutcomeProps): ReactElement {
  const { destinationId, outcome, reason, error, consent, attempts, versionNumber, at } = one;
  const mayShow = useScope('destination:find');
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="stack tight">
      <span className="row">
        <OutcomeState outcome={outcome} />
        <Link className="clip" dir="auto" to={`/destinations/${destinationId}`}>
          {destinationName}
        </Link>
      </span>
      <span className="hint">
        {countOf(attempts, 'attempt')}, <Ago at={at} />
        {versionNumber === null ? null : `, decided by version ${versionNumber}`}
      </span>
      {reason === null || reason === `status ${error?.status}` ? null : <span dir="auto">{reason}</span>}
      {error === null ? null : <ErrorLine error={error} />}
      <ConsentAnswers answers={consent} />
      {mayShow && attempts > 0 && (outcome === 'rejected' || outcome === 'retrying') ? (
        <span>
          <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Hide the response' : 'Show the response'}
          </button>
        </span>
      ) : null}
      {outcome === 'rejected' ? <RetryButton destinationId={destinationId} eventId={eventId} /> : null}
      {isOpen ? <Answer eventId={eventId} destinationId={destinationId} /> : null}
    </div>
  );
}

function Answer({
  eventId,
  destinationId,
}: {
  readonly eventId: string;
  readonly destinationId: string;
}): ReactElement {
  const path = `/events/${encodeURIComponent(eventId)}/exchanges`;
  const query = useRead<{ readonly entities: readonly EventExchange[] }>(path);
  const found = query.data?.entities.find((one) => one.destinationId === destinationId);
  return (
    <>
      <Waiting query={query} />
      {query.data !== undefined && found === undefined ? (
        <p className="hint">
          Not recorded: no request was sent, an earlier version of Sluice sent it, or it is not among the newest 2,000
          of the account. Dead letters keep their own response.
        </p>
      ) : null}
      {found === undefined ? null : <ExchangeView exchange={found.exchange} />}
    </>
  );
}
