import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { BacklogLeft, Change, PublishedVersion, Version } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { Backlogs, LeftUnsent } from './backlogs.tsx';
import { ChangeList } from './change-list.tsx';
import { RolloutList } from './rollout-list.tsx';
import { VersionState } from './versions-page.tsx';

/** One version: what it would change if it were made live. */
export function VersionPage(): ReactElement {
  const { id = '' } = useParams();
  const query = useRead<Version>(`/versions/${id}`);
  const changes = useRead<{ readonly changes: readonly Change[] }>(`/versions/${id}/changes`);
  const mayPublish = useScope('version:publish');
  const [isAsking, setAsking] = useState(false);
  const [isForced, setForced] = useState(false);
  const backlogs = useRead<{ readonly entities: readonly BacklogLeft[] }>(`/versions/${id}/backlogs`, {
    enabled: isAsking,
  });
  const left = backlogs.data?.entities ?? [];
  const publish = useChange(() =>
    request<PublishedVersion>('POST', `/versions/${id}/publish`, isForced ? { force: true } : {}),
  );
  const version = query.data;
  const listed = changes.data?.changes ?? [];
  return (
    <Page
      title={version?.name ?? 'Version'}
      lead={version === undefined ? undefined : `Version ${version.versionNumber}`}
      back={{ to: '/versions', label: 'Versions' }}
      actions={
        version === undefined || version.isPublished || !mayPublish ? null : (
          <button type="button" className="primary" onClick={() => setAsking(true)}>
            {version.publishedAt === null ? 'Publish this version' : 'Roll back to this version'}
          </button>
        )
      }
    >
      <Waiting query={query} />
      {version === undefined ? null : (
        <Card title="Details">
          <dl className="facts">
            <dt>State</dt>
            <dd>
              <VersionState version={version} />
            </dd>
            <dt>Made</dt>
            <dd>
              <At at={version.createdAt} />
            </dd>
            <dt>Published</dt>
            <dd>{version.publishedAt === null ? 'never' : <At at={version.publishedAt} />}</dd>
            <dt>By</dt>
            <dd>{version.publishedByUserName ?? '–'}</dd>
            <dt>Notes</dt>
            <dd>{version.notes ?? '–'}</dd>
          </dl>
        </Card>
      )}
      {version?.isPublished === true ? (
        <Card title="Rollout">
          <RolloutList versionId={version.id} />
        </Card>
      ) : null}
      <LeftUnsent left={publish.data?.backlogsLeft ?? []} />
      <p>
        <Link to={`/versions/${id}/privacy`}>What leaves to whom by this version</Link>
      </p>
      <h2>Changes against the live version</h2>
      <Waiting query={changes} />
      {changes.isSuccess && listed.length === 0 ? (
        <Card>
          <Empty title="None: this is the live version." />
        </Card>
      ) : (
        <ChangeList changes={listed} />
      )}
      {isAsking ? (
        <Confirm
          title={`Publish version ${version?.versionNumber ?? ''}?`}
          action="Publish"
          onDone={() => setAsking(false)}
          onConfirm={() => publish.mutateAsync(undefined)}
        >
          <p>{countOf(listed.length, 'change')} reach every process at once. The draft stays as it is.</p>
          <Waiting query={backlogs} />
          <Backlogs left={left} isForced={isForced} onForced={setForced} />
        </Confirm>
      ) : null}
    </Page>
  );
}
