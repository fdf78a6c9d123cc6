import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Change, SystemProcess, Version } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf, showMs } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { ChangeList } from './change-list.tsx';

type Published = { readonly version: Version; readonly tookMs: number };

/** What is not live yet: looked at, taken back, or published. */
export function DraftPage(): ReactElement {
  const query = useRead<{ readonly changes: readonly Change[] }>('/versions/draft/changes', { everyMs: 10_000 });
  const mayPublish = useScope('version:publish');
  const [isAbandoning, setAbandoning] = useState(false);
  const revert = useChange((entities: readonly object[]) => request('POST', '/versions/draft/revert', { entities }));
  const abandon = useChange(() => request('POST', '/versions/draft/abandon'));
  const publish = useChange(async (body: object): Promise<Published> => {
    const begunMs = performance.now();
    const version = await request<Version>('POST', '/versions', { ...body, publish: true });
    return { version, tookMs: performance.now() - begunMs };
  });
  const changes = query.data?.changes ?? [];
  return (
    <Page
      title="Draft"
      lead="Changes are made here, and touch no event until they are published."
      actions={
        mayPublish && changes.length > 0 ? (
          <button type="button" className="danger" onClick={() => setAbandoning(true)}>
            Take everything back
          </button>
        ) : null
      }
    >
      <Waiting query={query} />
      {publish.data === undefined ? null : <Done published={publish.data} />}
      {query.isSuccess && changes.length === 0 ? (
        <Card>
          <Empty title="The draft is what is live.">
            <p>
              Change a <Link to="/destinations">destination</Link> or a <Link to="/sources">source</Link>, and what
              changes is listed here. Earlier versions are under <Link to="/versions">versions</Link>.
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
              action={(change) =>
                mayPublish && !change.collection.startsWith('experiment') ? (
                  <button
                    type="button"
                    className="plain"
                    disabled={revert.isPending}
                    onClick={() => revert.mutate([{ collection: change.collection, id: change.id }])}
                  >
                    Take back
                  </button>
                ) : null
              }
            />
          </div>
          <Publish changes={changes} publish={publish} />
        </div>
      )}
      {isAbandoning ? (
        <Confirm
          title={`Take back ${countOf(changes.length, 'change')}?`}
          action="Take everything back"
          isDanger
          onDone={() => setAbandoning(false)}
          onConfirm={() => abandon.mutateAsync(undefined)}
        >
          <p>The draft is then what is live. What was added to it is gone.</p>
        </Confirm>
      ) : null}
    </Page>
  );
}

type PublishProps = {
  readonly changes: readonly Change[];
  readonly publish: { readonly error: unknown; readonly isPending: boolean; mutate(body: object): void };
};

function Publish({ changes, publish }: PublishProps): ReactElement {
  const mayPublish = useScope('version:publish');
  const [name, setName] = useState('');
  const [notes, setNotes] = useState('');
  const added = changes.filter((one) => one.collection === 'destinations' && one.change === 'added').length;
  const removed = changes.filter((one) => one.collection === 'destinations' && one.change === 'removed').length;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    publish.mutate({ ...(name === '' ? {} : { name }), ...(notes === '' ? {} : { notes }) });
  };
  return (
    <Card title="Publish">
      <ul>
        <li>Every gateway and pipeline runs it from then on, without a restart.</li>
        {added > 0 ? (
          <li>{countOf(added, 'new destination')} will get events from then on, none from before.</li>
        ) : null}
        {removed > 0 ? (
          <li>{countOf(removed, 'destination')} will get nothing more, and what waits for it there is dropped.</li>
        ) : null}
        <li>The version that is live now can be made live again.</li>
      </ul>
      <form onSubmit={submit}>
        <Field label="Name" hint="Empty: the service makes one.">
          {(ids) => <input {...ids} maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Notes">
          {(ids) => (
            <textarea {...ids} maxLength={10_000} value={notes} onChange={(event) => setNotes(event.target.value)} />
          )}
        </Field>
        {mayPublish ? null : <p className="note warn">This key lacks the scope version:publish.</p>}
        <ErrorNote error={publish.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={publish.isPending || !mayPublish}>
            {publish.isPending ? 'Publishing …' : `Publish ${countOf(changes.length, 'change')}`}
          </button>
        </div>
      </form>
    </Card>
  );
}

function Done({ published: { version, tookMs } }: { readonly published: Published }): ReactElement {
  const maySee = useScope('system:find');
  const processes = useRead<{ readonly revision: number; readonly entities: readonly SystemProcess[] }>(
    '/system/processes',
    { everyMs: 1_000, enabled: maySee },
  );
  const running = processes.data?.entities.filter(({ revision }) => revision >= (processes.data?.revision ?? 0)).length;
  return (
    <div className="note good" role="status">
      <State tone="good">
        Version {version.versionNumber} is live: published in {showMs(tookMs)}.
      </State>
      {running === undefined ? null : (
        <p>
          {running} of the {processes.data?.entities.length ?? 0} processes that are alive run the newest configuration.{' '}
          <Link to="/system">Which</Link>
        </p>
      )}
    </div>
  );
}
