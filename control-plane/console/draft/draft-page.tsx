import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Changes, PublishedVersion, Version } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { countOf, showMs } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { LeftUnsent } from './backlogs.tsx';
import { ChangeList } from './change-list.tsx';
import { ImpactCard } from './impact-card.tsx';
import { PublishCard } from './publish-card.tsx';
import { RolloutList } from './rollout-list.tsx';

type Published = { readonly version: PublishedVersion; readonly tookMs: number };

/** The unpublished changes: review, revert, publish. */
export function DraftPage(): ReactElement {
  const query = useRead<Changes>('/versions/draft/changes', { everyMs: 10_000 });
  const mayPublish = useScope('version:publish');
  const [isAbandoning, setAbandoning] = useState(false);
  const revert = useChange((entities: readonly object[]) => request('POST', '/versions/draft/revert', { entities }));
  const abandon = useChange(() => request('POST', '/versions/draft/abandon'));
  const publish = useChange(async (body: object): Promise<Published> => {
    const begunMs = performance.now();
    const version = await request<PublishedVersion>('POST', '/versions', { ...body, publish: true });
    return { version, tookMs: performance.now() - begunMs };
  });
  // Sets `publish: false`, because an account can be configured to publish every new version immediately.
  const ask = useChange(async ({ comment, ...body }: { readonly comment?: string }): Promise<Version> => {
    const version = await request<Version>('POST', '/versions', { ...body, publish: false });
    await request('POST', `/versions/${version.id}/request-approval`, comment === undefined ? {} : { comment });
    return version;
  });
  const changes = query.data?.changes ?? [];
  return (
    <Page
      title="Draft"
      lead="Changes collect here and take effect only when you publish."
      actions={
        mayPublish && changes.length > 0 ? (
          <button type="button" className="danger" onClick={() => setAbandoning(true)}>
            Revert all
          </button>
        ) : null
      }
    >
      <Waiting query={query} />
      {publish.data === undefined ? null : <Done published={publish.data} />}
      {query.isSuccess && changes.length === 0 ? (
        <Card>
          <Empty title="The draft matches the live version.">
            <p>
              Changes that you make, for example to a <Link to="/destinations">destination</Link> or a{' '}
              <Link to="/sources">source</Link>, are listed here. For earlier versions, see{' '}
              <Link to="/versions">versions</Link>.
            </p>
          </Empty>
        </Card>
      ) : null}
      {changes.length === 0 ? null : (
        <div className="columns">
          <div className="stack">
            <h2>{countOf(changes.length, 'change')}</h2>
            <ErrorNote error={revert.error} />
            <ChangeList
              changes={changes}
              names={query.data?.names ?? {}}
              action={(change) =>
                mayPublish && !change.collection.startsWith('experiment') ? (
                  <button
                    type="button"
                    className="plain"
                    disabled={revert.isPending}
                    onClick={() => revert.mutate([{ collection: change.collection, id: change.id }])}
                  >
                    Revert
                  </button>
                ) : null
              }
            />
          </div>
          <PublishCard changes={changes} publish={publish} request={ask} />
        </div>
      )}
      {changes.length === 0 ? null : <ImpactCard versionId="draft" />}
      {isAbandoning ? (
        <Confirm
          title={`Revert ${countOf(changes.length, 'change')}?`}
          action="Revert all"
          isDanger
          onDone={() => setAbandoning(false)}
          onConfirm={() => abandon.mutateAsync(undefined)}
        >
          <p>The draft will match the live version. Added items are deleted.</p>
        </Confirm>
      ) : null}
    </Page>
  );
}

function Done({ published: { version, tookMs } }: { readonly published: Published }): ReactElement {
  return (
    <div className="note good" role="status">
      <State tone="good">
        Version {version.versionNumber} is live: published in {showMs(tookMs)}.
      </State>
      <LeftUnsent left={version.backlogsLeft ?? []} />
      {version.quarantineReleased === undefined ? null : (
        <p>
          {countOf(
            version.quarantineReleased.reduce((sum, { released }) => sum + released, 0),
            'quarantined event',
          )}{' '}
          released.
          {version.quarantineReleased.every(({ isComplete }) => isComplete) ? null : (
            <>
              {' '}
              More events are quarantined: release them in the <Link to="/tracking-plan/quarantine">quarantine</Link>.
            </>
          )}
        </p>
      )}
      <RolloutList versionId={version.id} />
    </div>
  );
}
