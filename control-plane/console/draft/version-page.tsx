import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { Changes, PublishedVersion, Version } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { ApprovalCard, useApproval, useRequiresApproval } from './approval-card.tsx';
import { LeftUnsent } from './backlogs.tsx';
import { ChangeList } from './change-list.tsx';
import { ImpactCard } from './impact-card.tsx';
import { RollBack } from './roll-back.tsx';
import { RolloutList } from './rollout-list.tsx';
import { VersionState } from './versions-page.tsx';

/** One version, and the changes that publishing it would make. */
export function VersionPage(): ReactElement {
  const { id = '' } = useParams();
  const query = useRead<Version>(`/versions/${id}`);
  const changes = useRead<Changes>(`/versions/${id}/changes`);
  const approval = useApproval(id);
  const isApprovalRequired = useRequiresApproval();
  const mayPublish = useScope('version:publish') && (!isApprovalRequired || approval?.status === 'approved');
  const [isAsking, setAsking] = useState(false);
  const [published, setPublished] = useState<PublishedVersion>();
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
      {published === undefined ? null : <Done published={published} />}
      {version === undefined ? null : (
        <>
          <Details version={version} />
          <ApprovalCard version={version} approval={approval} />
        </>
      )}
      {version?.isPublished === true ? (
        <Card title="Rollout">
          <RolloutList versionId={version.id} />
        </Card>
      ) : null}
      <p>
        <Link to={`/versions/${id}/privacy`}>Privacy report of this version</Link>
      </p>
      {listed.length === 0 ? null : <ImpactCard versionId={id} />}
      <h2>Changes compared with the live version</h2>
      <Waiting query={changes} />
      {changes.isSuccess && listed.length === 0 ? (
        <Card>
          <Empty title={version?.isPublished === true ? 'None: this is the live version.' : 'None.'} />
        </Card>
      ) : (
        <ChangeList changes={listed} names={changes.data?.names ?? {}} />
      )}
      {isAsking && version !== undefined ? (
        <RollBack
          version={version}
          changes={listed.length}
          onPublished={setPublished}
          onDone={() => setAsking(false)}
        />
      ) : null}
    </Page>
  );
}

function Details({ version }: { readonly version: Version }): ReactElement {
  return (
    <Card title="Details">
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <VersionState version={version} />
        </dd>
        <dt>Created</dt>
        <dd>
          <At at={version.createdAt} />
        </dd>
        <dt>First published</dt>
        <dd>{version.publishedAt === null ? 'never' : <At at={version.publishedAt} />}</dd>
        <dt>By</dt>
        <dd>{version.publishedByUserName ?? '–'}</dd>
        <dt>Notes</dt>
        <dd dir="auto">{version.notes ?? '–'}</dd>
      </dl>
    </Card>
  );
}

function Done({ published: { versionNumber, draftReverted, backlogsLeft } }: { readonly published: PublishedVersion }) {
  const reverted =
    draftReverted === undefined
      ? 0
      : draftReverted.revertedCount + draftReverted.restoredCount + draftReverted.discardedCount;
  return (
    <div className="note good" role="status">
      <State tone="good">Version {versionNumber} is live.</State>
      {draftReverted === undefined ? null : (
        <p>
          {countOf(reverted, 'change')} reverted in the draft.
          {draftReverted.keptCount === 0 ? null : (
            <>
              {' '}
              {countOf(draftReverted.keptCount, 'item')} edited since {draftReverted.keptCount === 1 ? 'stays' : 'stay'}{' '}
              in the <Link to="/draft">draft</Link>.
            </>
          )}
        </p>
      )}
      <LeftUnsent left={backlogsLeft ?? []} />
    </div>
  );
}
