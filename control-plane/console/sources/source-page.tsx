import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Source, SourceType, Tokens } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Card, Page } from '../design/page.tsx';
import { Ago, At } from '../design/time.tsx';
import { FirstEvent } from './first-event.tsx';
import { IdentityCard } from './identity-card.tsx';
import { Install } from './install-card.tsx';
import { SecretCard, takesUserHash } from './secret-card.tsx';
import { SourceState } from './sources-page.tsx';
import { WebhookCard } from './webhook-card.tsx';

/** One source: keys, status and how to send events. */
export function SourcePage(): ReactElement {
  const { id = '' } = useParams();
  const path = `/sources/${id}`;
  const query = useRead<Source>(path, { everyMs: 2_000 });
  const mayReadKeys = useScope('source:tokens');
  const tokens = useRead<Tokens>(`${path}/tokens`, { enabled: mayReadKeys });
  const types = useRead<{ readonly entities: readonly SourceType[] }>('/sources/types', {
    enabled: useScope('source:list'),
  });
  const mayUpdate = useScope('source:update');
  const mayList = useScope('source:list');
  const [isRotating, setRotating] = useState(false);
  const rotate = useChange(() => request('POST', `${path}/tokens/rotate`));
  const turn = useChange((status: string) => request('PATCH', path, { status }));
  const source = query.data;
  const type = types.data?.entities.find(({ id: one }) => one === source?.type);
  return (
    <Page
      title={source?.name || (type?.label ?? 'Source')}
      lead={type?.label ?? source?.type}
      back={{ to: '/sources', label: 'Sources' }}
      actions={
        source === undefined || !mayUpdate ? null : (
          <>
            <button
              type="button"
              disabled={turn.isPending}
              onClick={() => turn.mutate(source.status === 'Enabled' ? 'Disabled' : 'Enabled')}
            >
              {source.status === 'Enabled' ? 'Disable' : 'Enable'}
            </button>
            <button type="button" className="danger" onClick={() => setRotating(true)}>
              Rotate keys
            </button>
          </>
        )
      }
    >
      <Waiting query={query} />
      <ErrorNote error={turn.error} />
      {source === undefined ? null : (
        <>
          <FirstEvent source={source} />
          <div className="columns">
            {tokens.data !== undefined && type?.group === 'webhook' ? (
              <WebhookCard source={source} type={type} tokens={tokens.data} mayUpdate={mayUpdate} />
            ) : null}
            <Card title="Send an event">
              {mayReadKeys ? <Waiting query={tokens} /> : <p>Reading the keys needs the scope source:tokens.</p>}
              <ErrorNote error={types.error} />
              {tokens.data === undefined || type === undefined ? null : (
                <Install source={source} type={type} tokens={tokens.data} />
              )}
            </Card>
            <StatusCard source={source} />
            {mayList ? <IdentityCard sourceId={source.id} /> : null}
            {mayReadKeys && tokens.data !== undefined && takesUserHash(source.type) ? (
              <SecretCard path={path} secret={tokens.data.secret} mayRotate={mayUpdate} />
            ) : null}
          </div>
        </>
      )}
      {isRotating ? (
        <Confirm
          title="Rotate the keys of this source?"
          action="Rotate keys"
          isDanger
          onDone={() => setRotating(false)}
          onConfirm={() => rotate.mutateAsync(undefined)}
        >
          <p>The current keys stop working at once. Requests that use them are rejected.</p>
        </Confirm>
      ) : null}
    </Page>
  );
}

function StatusCard({ source }: { readonly source: Source }): ReactElement {
  return (
    <Card title="Status">
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <SourceState source={source} />
        </dd>
        <dt>Last request</dt>
        <dd>
          <Ago at={source.lastTriggeredAt} />
        </dd>
        <dt>Last delivered</dt>
        <dd>
          <Ago at={source.lastDispatchedAt} />
        </dd>
        <dt>Last rejected</dt>
        <dd>
          {source.lastInvalid === null ? (
            'none'
          ) : (
            <>
              <Ago at={source.lastInvalid.at} />: {source.lastInvalid.problem}
            </>
          )}
        </dd>
        <dt>Created</dt>
        <dd>
          <At at={source.createdAt} />
        </dd>
      </dl>
      <p>
        <Link to={`/events?sourceId=${source.id}`}>Recent events</Link>
      </p>
    </Card>
  );
}
