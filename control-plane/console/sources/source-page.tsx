import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Source, Tokens } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Page } from '../design/page.tsx';
import { Ago, At } from '../design/time.tsx';
import { IdentityCard } from './identity-card.tsx';
import { SecretCard, takesUserHash } from './secret-card.tsx';
import { SourceState } from './sources-page.tsx';

/** One source: its keys, and what to send with them. */
export function SourcePage(): ReactElement {
  const { id = '' } = useParams();
  const path = `/sources/${id}`;
  const query = useRead<Source>(path, { everyMs: 5_000 });
  const mayReadKeys = useScope('source:tokens');
  const tokens = useRead<Tokens>(`${path}/tokens`, { enabled: mayReadKeys });
  const mayUpdate = useScope('source:update');
  const mayList = useScope('source:list');
  const [isRotating, setRotating] = useState(false);
  const rotate = useChange(() => request('POST', `${path}/tokens/rotate`));
  const turn = useChange((status: string) => request('PATCH', path, { status }));
  const source = query.data;
  return (
    <Page
      title={source?.name ?? source?.type ?? 'Source'}
      lead={source?.type}
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
          {source.isPublished === true ? null : (
            <p className="note warn">
              It does not accept events yet: it is not in the live version. <Link to="/draft">Publish the draft</Link>
            </p>
          )}
          <div className="columns">
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
                <dt>Made</dt>
                <dd>
                  <At at={source.createdAt} />
                </dd>
              </dl>
              <p>
                <Link to={`/events?sourceId=${source.id}`}>Recent events</Link>
              </p>
            </Card>
            {mayList ? <IdentityCard sourceId={source.id} /> : null}
            {mayReadKeys && tokens.data !== undefined && takesUserHash(source.type) ? (
              <SecretCard path={path} secret={tokens.data.secret} mayRotate={mayUpdate} />
            ) : null}
            <Card title="Send an event">
              {mayReadKeys ? <Waiting query={tokens} /> : <p>Reading the keys needs the scope source:tokens.</p>}
              {tokens.data === undefined ? null : <Install tokens={tokens.data} />}
            </Card>
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

function Install({ tokens }: { readonly tokens: Tokens }): ReactElement {
  const [which, setWhich] = useState<'token' | 'testToken'>('testToken');
  const event = {
    token: tokens[which],
    event: 'Order Completed',
    externalId: 'customer-42',
    properties: { total: 42.5 },
  };
  return (
    <>
      <Field
        label="Key"
        hint={
          which === 'testToken'
            ? 'Events sent with the test key are validated and shown here, and not dispatched.'
            : 'Events sent with this key go to every destination that may receive them.'
        }
      >
        {(ids) => (
          <select
            {...ids}
            value={which}
            onChange={(input) => setWhich(input.target.value === 'token' ? 'token' : 'testToken')}
          >
            <option value="testToken">test key</option>
            <option value="token">key</option>
          </select>
        )}
      </Field>
      <Code label="The key" text={tokens[which]} />
      <Code
        label="With curl"
        text={`curl "$GATEWAY/api/v1/track" -H 'content-type: application/json' \\\n  -d '${JSON.stringify(event)}'`}
      />
      <Code
        label="With JavaScript"
        text={`await fetch(\`\${gateway}/api/v1/track\`, {\n  method: 'POST',\n  headers: { 'content-type': 'application/json' },\n  body: JSON.stringify(${JSON.stringify(event, undefined, 4).replaceAll('\n', '\n  ')}),\n});`}
      />
      <p className="hint">GATEWAY is the address of your gateway; of a local stack http://127.0.0.1:8080.</p>
    </>
  );
}
