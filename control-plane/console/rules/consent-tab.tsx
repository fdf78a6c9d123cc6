import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import type { ConsentFields, Kept } from './rule.ts';

export function ConsentTab(): ReactElement {
  const query = useList<Kept<ConsentFields>>('/collections/consentSettings?limit=100');
  const mayCreate = useScope('consentSettings:create');
  return (
    <Card
      title="Purposes"
      isFlush
      aside={
        mayCreate ? (
          <Link className="button" to="/rules/new-purpose">
            Add a purpose
          </Link>
        ) : null
      }
    >
      <p className="soft body">
        A destination that serves a purpose gets only events whose visitors allow it: by the event, the visitor's
        consent, a signal of the browser or the purpose's default, in this order.
      </p>
      <Waiting query={query} />
      {query.isSuccess && query.entities.length === 0 ? (
        <Empty title="No purposes yet.">
          <p>Add a purpose, such as analytics or advertising, with the destinations that serve it.</p>
        </Empty>
      ) : null}
      {query.entities.length === 0 ? null : (
        <Table
          label="Purposes"
          rows={query.entities}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Purpose',
              cell: ({ id, name }) => (
                <Link className="clip" dir="auto" to={`/rules/purposes/${id}`}>
                  {name}
                </Link>
              ),
            },
            {
              title: 'State',
              cell: ({ isEnabled }) =>
                isEnabled ? <State tone="good">Enforced</State> : <State tone="off">Off</State>,
            },
            {
              title: 'Default',
              cell: ({ defaultState }) => defaultState,
            },
            { title: 'Destinations', cell: ({ destinationIds }) => countOf(destinationIds.length, 'destination') },
          ]}
        />
      )}
      <More query={query} />
    </Card>
  );
}
