import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { DeadLetterDetail } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Page } from '../design/page.tsx';
import { ErrorLine, ExchangeView, isStatusOnly } from '../design/shown-exchange.tsx';
import { Ago } from '../design/time.tsx';
import { RetryButton } from './retry-button.tsx';

/** One dead letter: why the event was not delivered, the request, and the platform's answer. */
export function DeadLetterPage(): ReactElement {
  const { id = '', seq = '' } = useParams();
  const query = useRead<DeadLetterDetail>(`/destinations/${id}/dead-letters/${seq}`);
  const letter = query.data;
  return (
    <Page
      title={letter === undefined ? 'Dead letter' : `Dead letter: ${letter.event.name}`}
      lead={<span className="mono">{letter?.event.id}</span>}
      back={{ to: `/destinations/${id}/dead-letters`, label: 'Dead letters' }}
    >
      <Waiting query={query} />
      {letter === undefined ? null : (
        <div className="columns">
          <Card title="Reason">
            <Facts letter={letter} />
            <RetryButton destinationId={id} eventId={letter.event.id} />
          </Card>
          <Card title="Request and response">
            {letter.exchange === null ? (
              <p>
                {letter.request === null
                  ? 'No request was made for this event.'
                  : 'Not recorded: an earlier version of Sluice wrote this dead letter.'}
              </p>
            ) : (
              <ExchangeView exchange={letter.exchange} />
            )}
          </Card>
        </div>
      )}
    </Page>
  );
}

function Facts({ letter }: { readonly letter: DeadLetterDetail }): ReactElement {
  const { event, reason, error, attempts, firstAttemptAt, lastAttemptAt } = letter;
  return (
    <dl className="facts">
      {isStatusOnly(letter) ? null : (
        <>
          <dt>Reason</dt>
          <dd dir="auto">{reason}</dd>
        </>
      )}
      {error === null ? null : (
        <>
          <dt>Platform response</dt>
          <dd>
            <ErrorLine error={error} />
          </dd>
        </>
      )}
      <dt>Event</dt>
      <dd>
        <Link dir="auto" to={`/events/${encodeURIComponent(event.id)}`}>
          {event.name}
        </Link>
      </dd>
      <dt>Visitor</dt>
      <dd>
        <Link className="mono" to={`/visitors/${encodeURIComponent(event.visitorId)}`}>
          {event.visitorId}
        </Link>
      </dd>
      <dt>Attempts</dt>
      <dd>
        {countOf(attempts, 'attempt')}, first <Ago at={firstAttemptAt} />, last <Ago at={lastAttemptAt} />
      </dd>
    </dl>
  );
}
