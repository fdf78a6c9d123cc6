import { useState } from 'react';
import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import type { StandardEvent } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { pretty } from '../design/shown-request.tsx';
import { Table } from '../design/table.tsx';

/** The requests for standard events to which no mapping applies. They are loaded when the list is opened. */
export function WithoutMapping({ destinationId }: { readonly destinationId: string }): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Card title="Without a mapping">
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>How each standard event is sent</summary>
        {isOpen ? <StandardEvents destinationId={destinationId} /> : null}
      </details>
    </Card>
  );
}

function StandardEvents({ destinationId }: { readonly destinationId: string }): ReactElement {
  const query = useRead<{ readonly entities: readonly StandardEvent[] }>(
    `/destinations/${encodeURIComponent(destinationId)}/standard-events`,
  );
  const [chosen, setChosen] = useState('');
  const events = query.data?.entities ?? [];
  const shown = events.find(({ label }) => label === chosen);
  return (
    <div className="stack">
      <Waiting query={query} />
      {events.length === 0 ? null : (
        <>
          <p className="soft">With the settings of this destination, example secrets and an example customer.</p>
          <Table
            label="Standard events"
            columns={[
              {
                title: 'Event',
                cell: ({ label, requests }) =>
                  requests.length === 0 ? (
                    label
                  ) : (
                    <button type="button" className="plain" onClick={() => setChosen(label)}>
                      {label}
                    </button>
                  ),
              },
              { title: 'Sent as', cell: SentAs },
            ]}
            rows={events}
            keyOf={({ label }) => label}
          />
        </>
      )}
      {shown === undefined ? null : (
        <div className="stack" aria-live="polite">
          <h3>{shown.label}</h3>
          {shown.requests.map(({ method, url, body }, index) => (
            <div key={index} className="stack">
              <Code label="Request" text={`${method} ${url}`} />
              {body === null ? null : <Code label="Body" text={pretty(body)} />}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function SentAs({ outcome, name, reason }: StandardEvent): ReactElement {
  if (outcome === 'sent') return name === null ? <span className="soft">no event name</span> : <strong>{name}</strong>;
  return (
    <span className="soft">
      {outcome === 'skipped' ? 'Skipped' : 'Rejected'}: {reason}
    </span>
  );
}
