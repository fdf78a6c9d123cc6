import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useList } from '../api/queries.ts';
import type { Version } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';

/** What was live before, and what is. */
export function VersionsPage(): ReactElement {
  const query = useList<Version>('/versions?limit=50');
  return (
    <Page
      title="Versions"
      lead="Each version is a full snapshot of the configuration. Any of them can be published again."
    >
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? (
          <Empty title="Nothing has been published yet.">
            <Link to="/draft">Go to the draft</Link>
          </Empty>
        ) : null}
        {query.entities.length === 0 ? null : (
          <Table
            label="Versions"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Number', isNumber: true, cell: ({ versionNumber }) => versionNumber },
              {
                title: 'Version',
                cell: ({ id, name }) => (
                  <Link className="clip" dir="auto" to={`/versions/${id}`}>
                    {name}
                  </Link>
                ),
              },
              { title: 'State', cell: (version) => <VersionState version={version} /> },
              { title: 'Published', cell: ({ publishedAt }) => <Ago at={publishedAt} /> },
              {
                title: 'By',
                cell: ({ publishedByUserName }) => (
                  <span className="clip" dir="auto">
                    {publishedByUserName ?? '–'}
                  </span>
                ),
              },
            ]}
          />
        )}
        <More query={query} />
      </Card>
    </Page>
  );
}

export function VersionState({ version: { isPublished, publishedAt } }: { readonly version: Version }): ReactElement {
  if (isPublished) return <State tone="good">Live</State>;
  return <State tone="off">{publishedAt === null ? 'Never live' : 'Was live'}</State>;
}
