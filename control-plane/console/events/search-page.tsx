import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { Link } from 'react-router';
import type { LogSearch, LogSearchEvent } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf, showShare } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { ErrorLine } from '../design/shown-exchange.tsx';
import { Table } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';
import { outcomeWords } from './outcomes.tsx';
import { useLogSearch } from './use-log-search.ts';

type By = 'property' | 'eventId' | 'visitorId';

const byWords: Readonly<Record<By, string>> = {
  property: 'Property',
  eventId: 'Event id',
  visitorId: 'Visitor id',
};

/** Searches every event that the log still has, with the outcome at each destination. */
export function SearchPage(): ReactElement {
  const [by, setBy] = useState<By>('property');
  const [property, setProperty] = useState('order_id');
  const [value, setValue] = useState('');
  const search = useLogSearch();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    search.start(new URLSearchParams(by === 'property' ? { property, value } : { [by]: value }).toString());
  };
  const { report } = search;
  return (
    <Page
      title="Search the log"
      lead="Every event that is still in the log, including those missing from the list of recent events."
      back={{ to: '/events', label: 'Events' }}
    >
      <form className="inline" role="search" onSubmit={submit}>
        <Field label="Search by">
          {(ids) => (
            <select {...ids} value={by} onChange={(event) => setBy(event.target.value as By)}>
              {Object.entries(byWords).map(([id, label]) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {by === 'property' ? (
          <Field label="Property">
            {(ids) => (
              <input {...ids} required value={property} onChange={(event) => setProperty(event.target.value)} />
            )}
          </Field>
        ) : null}
        <Field label="Value">
          {(ids) => (
            <input {...ids} required type="search" value={value} onChange={(event) => setValue(event.target.value)} />
          )}
        </Field>
        {search.isRunning ? (
          <button type="button" onClick={search.cancel}>
            Cancel
          </button>
        ) : (
          <button type="submit" className="primary">
            Search
          </button>
        )}
      </form>
      <ErrorNote error={search.error} />
      {report === undefined ? null : <Result report={report} isRunning={search.isRunning} />}
    </Page>
  );
}

function Result({ report, isRunning }: { readonly report: LogSearch; readonly isRunning: boolean }): ReactElement {
  const { status, error, phase, share, messages, found, isComplete, events } = report;
  return (
    <Card title="Found" isFlush>
      <div className="body stack" role="status">
        {status === 'running' ? (
          <>
            <progress max={1} value={share} aria-label="Search of the log" />
            <p className="hint">
              {isRunning ? 'Reading' : 'Stopped while reading'} {phase ?? 'the log'}: {showShare(share)},{' '}
              {countOf(messages, 'message')}, {countOf(found, 'event')} found
            </p>
          </>
        ) : null}
        {error === null ? null : <p className="note warn">{error}</p>}
        {status === 'done' ? (
          <p>
            {countOf(found, 'event')}
            {isComplete ? ': all that the log has.' : ' found before the limit. Narrow the search to see the rest.'}
          </p>
        ) : null}
      </div>
      {status === 'done' && found === 0 ? (
        <Empty title="The log has no such event.">
          <p>It may have expired, it may belong to an erased visitor, or the value is written differently.</p>
        </Empty>
      ) : null}
      {events.length === 0 ? null : <FoundTable events={events} />}
    </Card>
  );
}

function FoundTable({ events }: { readonly events: readonly LogSearchEvent[] }): ReactElement {
  return (
    <Table
      label="Events found in the log"
      rows={events}
      keyOf={({ id, visitorId, sourceId }) => `${sourceId} ${visitorId} ${id}`}
      columns={[
        {
          title: 'Event',
          cell: ({ id, event }) => (
            <div className="stack tight">
              <span dir="auto">{event}</span>
              <span className="mono clip">{id}</span>
            </div>
          ),
        },
        { title: 'Happened', cell: ({ time }) => <At at={time} /> },
        {
          title: 'Visitor',
          cell: ({ visitorId }) => (
            <Link className="clip short" to={`/visitors/${encodeURIComponent(visitorId)}`}>
              {visitorId}
            </Link>
          ),
        },
        { title: 'Destinations', cell: (event) => <Destinations event={event} /> },
      ]}
    />
  );
}

const words: Readonly<Record<LogSearchEvent['destinations'][number]['outcome'], readonly [Tone, string]>> = {
  ...outcomeWords,
  waiting: ['warn', 'Waiting in the log'],
  notSent: ['off', 'Not sent here'],
  unknown: ['off', 'Unknown'],
};

function Destinations({ event: { destinations, test } }: { readonly event: LogSearchEvent }): ReactElement {
  if (test) return <State tone="off">Test: never sent</State>;
  return (
    <div className="stack">
      {destinations.map(({ destinationId, name, outcome, basis, reason, error, at }) => (
        <div key={destinationId} className="stack tight">
          <span className="row">
            <State tone={words[outcome][0]}>{words[outcome][1]}</State>
            <Link className="clip" dir="auto" to={`/destinations/${destinationId}`}>
              {name === '' ? destinationId : name}
            </Link>
            {at === null ? null : <Ago at={at} />}
          </span>
          {error === null ? reason === null ? null : <span dir="auto">{reason}</span> : <ErrorLine error={error} />}
          {basis === 'rules' && outcome === 'delivered' ? (
            <span className="hint">No longer in the log. The live rules would send it.</span>
          ) : null}
        </div>
      ))}
    </div>
  );
}
