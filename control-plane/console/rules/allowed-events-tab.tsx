import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import type { AllowedEventFields, Kept } from './rule.ts';

/** The allowed events and their destinations. */
export function AllowedEventsTab(): ReactElement {
  const query = useList<Kept<AllowedEventFields>>('/collections/allowedEvents?limit=100');
  const mayCreate = useScope('allowedEvents:create');
  return (
    <Card
      title="Allowed events"
      isFlush
      aside={
        mayCreate ? (
          <Link className="button" to="/rules/new-event">
            Allow an event
          </Link>
        ) : null
      }
    >
      <Waiting query={query} />
      {query.isSuccess && query.entities.length === 0 ? (
        <Empty title="Every event goes to every destination.">
          <p>
            Once an event is listed here and published, only listed events are sent, each to its own destinations. Names
            are not case-sensitive. Built-in events, which begin with $, are always sent.
          </p>
        </Empty>
      ) : null}
      {query.entities.length === 0 ? null : (
        <>
          <p className="soft body">Only these events are sent, each to its own destinations.</p>
          <Table
            label="Allowed events"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Event',
                cell: ({ id, name }) => (
                  <Link className="clip" dir="auto" to={`/rules/events/${id}`}>
                    {name}
                  </Link>
                ),
              },
              {
                title: 'Destinations',
                cell: ({ destinationIds }) =>
                  destinationIds.length === 0 ? (
                    <State tone="warn">No destination</State>
                  ) : (
                    countOf(destinationIds.length, 'destination')
                  ),
              },
              {
                title: 'Description',
                cell: ({ description }) => (
                  <span className="clip" dir="auto">
                    {description}
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      <More query={query} />
    </Card>
  );
}
