import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useChange, useList } from '../api/queries.ts';
import { readAll } from '../api/read-all.ts';
import type { Approval, Publication, Version } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { saveFile } from '../design/save-file.ts';
import { More, Table } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';
import { Actor, ApprovalState } from './approval-card.tsx';

/** All versions, their approvals and publications. */
export function VersionsPage(): ReactElement {
  return (
    <Page
      title="Versions"
      lead="Each version is a full snapshot of the configuration. Any of them can be published again."
    >
      <Approvals />
      <Versions />
      <History />
    </Page>
  );
}

function Versions(): ReactElement {
  const query = useList<Version>('/versions?limit=50');
  return (
    <>
      <Waiting query={query} />
      <Card title="All versions" isFlush aside={<Export path="/versions" name="versions" />}>
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
              { title: 'Version', cell: ({ id, name, versionNumber }) => <Named {...{ id, name, versionNumber }} /> },
              { title: 'State', cell: (version) => <VersionState version={version} /> },
              { title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
              { title: 'First published', cell: ({ publishedAt }) => <Ago at={publishedAt} /> },
              { title: 'Notes', cell: ({ notes }) => <Text text={notes} /> },
            ]}
          />
        )}
        <More query={query} />
      </Card>
    </>
  );
}

/** Approval requests that are pending, or approved but not published yet. */
function Approvals(): ReactElement | null {
  const query = useList<Approval>('/approvals?limit=25');
  const open = query.entities.filter(({ status }) => status === 'pending' || status === 'approved');
  if (open.length === 0) return null;
  return (
    <Card title="Approvals" isFlush>
      <Table
        label="Approvals"
        rows={open}
        keyOf={({ versionId }) => versionId}
        columns={[
          {
            title: 'Version',
            cell: ({ versionId, versionName, versionNumber }) => (
              <Named id={versionId} name={versionName} versionNumber={versionNumber} />
            ),
          },
          { title: 'State', cell: (approval) => <ApprovalState approval={approval} /> },
          {
            title: 'Requested by',
            cell: ({ requestedByName, requestedByUser }) => <Actor name={requestedByName} user={requestedByUser} />,
          },
          { title: 'Requested', cell: ({ requestedAt }) => <Ago at={requestedAt} /> },
          { title: 'Comment', cell: ({ comment }) => <Text text={comment} /> },
        ]}
      />
    </Card>
  );
}

/** Which version was live when. */
function History(): ReactElement | null {
  const query = useList<Publication>('/publications?limit=50');
  if (query.entities.length === 0) return null;
  return (
    <Card title="Publication history" isFlush aside={<Export path="/publications" name="publications" />}>
      <Table
        label="Publications"
        rows={query.entities}
        keyOf={({ publishedAt, versionId }) => `${publishedAt} ${versionId}`}
        columns={[
          {
            title: 'Version',
            cell: ({ versionId, versionName, versionNumber, isDeleted }) =>
              isDeleted ? (
                <span className="clip" dir="auto">
                  {versionNumber}: {versionName} <span className="hint">(deleted)</span>
                </span>
              ) : (
                <Named id={versionId} name={versionName} versionNumber={versionNumber} />
              ),
          },
          { title: 'Live from', cell: ({ publishedAt }) => <At at={publishedAt} /> },
          {
            title: 'Until',
            cell: ({ endedAt }) => (endedAt === null ? <State tone="good">Live</State> : <At at={endedAt} />),
          },
          { title: 'Published by', cell: ({ publishedByName }) => <Text text={publishedByName} /> },
          { title: 'Notes', cell: ({ notes }) => <Text text={notes} /> },
        ]}
      />
      <More query={query} />
    </Card>
  );
}

function Export({ path, name }: { readonly path: string; readonly name: string }): ReactElement {
  const exported = useChange(async () => {
    const { entities, isComplete } = await readAll(path);
    saveFile(`${name}.json`, JSON.stringify(entities, undefined, 2));
    return isComplete;
  });
  return (
    <span className="row">
      <ErrorNote error={exported.error} />
      {exported.data === false ? <span className="hint">The newest 10,000.</span> : null}
      <button type="button" disabled={exported.isPending} onClick={() => exported.mutate(undefined)}>
        Export JSON
      </button>
    </span>
  );
}

function Named({ id, name, versionNumber }: Pick<Version, 'id' | 'name' | 'versionNumber'>): ReactElement {
  return (
    <Link className="clip short" dir="auto" to={`/versions/${id}`}>
      {versionNumber}: {name}
    </Link>
  );
}

function Text({ text }: { readonly text: string | null }): ReactElement {
  return (
    <span className="clip short" dir="auto">
      {text === null || text === '' ? '–' : text}
    </span>
  );
}

export function VersionState({ version: { isPublished, publishedAt } }: { readonly version: Version }): ReactElement {
  if (isPublished) return <State tone="good">Live</State>;
  return <State tone="off">{publishedAt === null ? 'Never live' : 'Was live'}</State>;
}
