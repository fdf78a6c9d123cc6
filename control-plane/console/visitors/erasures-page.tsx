import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useList } from '../api/queries.ts';
import type { ListedErasure } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';

/** The erasures with their requester and deadline. */
export function ErasuresPage(): ReactElement {
  const query = useList<ListedErasure>('/erasures?limit=50');
  return (
    <Page title="Erasures" lead="Erased visitors, and the state of the deletion at each destination.">
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? <Empty title="No visitors have been erased yet." /> : null}
        {query.entities.length === 0 ? null : (
          <Table
            label="Erasures"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Erasure',
                cell: ({ id, reference }) => (
                  <Link className="clip" dir="auto" to={`/erasures/${id}`}>
                    {reference ?? id}
                  </Link>
                ),
              },
              { title: 'Requested', cell: ({ requestedAt }) => <Ago at={requestedAt} /> },
              {
                title: 'By',
                cell: ({ actorName }) => (
                  <span className="clip" dir="auto">
                    {actorName}
                  </span>
                ),
              },
              { title: 'Suppressed', cell: ({ suppressed }) => (suppressed ? 'Yes' : 'No') },
              { title: 'Due', cell: ({ dueAt }) => (dueAt === null ? '–' : <At at={dueAt} />) },
            ]}
          />
        )}
        <More query={query} />
      </Card>
    </Page>
  );
}
