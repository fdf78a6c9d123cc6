import { useState } from 'react';
import type { ReactElement } from 'react';
import { useLocation, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Erasure, ErasureTarget } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { saveFile } from '../design/save-file.ts';
import { Table } from '../design/table.tsx';
import { At } from '../design/time.tsx';

const states = {
  pending: { tone: 'warn', label: 'Pending' },
  requested: { tone: 'good', label: 'Accepted, deletes later' },
  done: { tone: 'good', label: 'Deleted' },
  nothing: { tone: 'off', label: 'Nothing to delete' },
  manual: { tone: 'warn', label: 'By hand' },
  failed: { tone: 'bad', label: 'Failed' },
} as const satisfies Record<ErasureTarget['state'], { readonly tone: string; readonly label: string }>;

/** One erasure: what was deleted here, and the state of each destination. */
export function ErasurePage(): ReactElement {
  const { id = '' } = useParams();
  const { state } = useLocation() as { readonly state: { readonly isNew?: boolean } | null };
  const isNew = state?.isNew === true;
  const path = `/erasures/${encodeURIComponent(id)}`;
  const query = useRead<Erasure>(path, { everyMs: 5_000 });
  const mayChange = useScope('erasure:update');
  const [confirming, setConfirming] = useState<ErasureTarget>();
  const retry = useChange(() => request('POST', `${path}/retry`));
  const confirm = useChange((destinationId: string) =>
    request('POST', `${path}/destinations/${encodeURIComponent(destinationId)}/confirm`),
  );
  const certificate = useChange(() => download(path, id));
  const erasure = query.data;
  const isOpen = erasure?.destinations.some(({ state }) => ['pending', 'manual', 'failed'].includes(state)) ?? false;
  return (
    <Page
      title={erasure?.reference ?? 'Erasure'}
      lead={<span className="mono">{id}</span>}
      back={{ to: '/erasures', label: 'Erasures' }}
      actions={
        <>
          {mayChange && isOpen ? (
            <button type="button" disabled={retry.isPending} onClick={() => retry.mutate(undefined)}>
              Try again now
            </button>
          ) : null}
          <button type="button" disabled={certificate.isPending} onClick={() => certificate.mutate(undefined)}>
            Download certificate
          </button>
        </>
      }
    >
      <Waiting query={query} />
      <ErrorNote error={retry.error ?? certificate.error} />
      {erasure !== undefined && isNew ? (
        <div className="note good" role="status">
          <State tone="good">The visitor was erased.</State>
          <p>
            This page is the receipt: what was deleted here, and what each destination did. The certificate is signed.
          </p>
        </div>
      ) : null}
      {erasure === undefined ? null : <Deleted erasure={erasure} />}
      {erasure === undefined ? null : (
        <Card title="Destinations" isFlush>
          {erasure.destinations.length === 0 ? (
            <Empty title="No destination was enabled while the visitor existed." />
          ) : (
            <Table
              label="Destinations"
              rows={erasure.destinations}
              keyOf={(target) => target.id}
              columns={[
                {
                  title: 'Destination',
                  cell: ({ name, label }) => (
                    <div className="stack tight">
                      <span className="clip" dir="auto">
                        {name}
                      </span>
                      <span className="soft">{label}</span>
                    </div>
                  ),
                },
                {
                  title: 'State',
                  cell: ({ state }) => <State tone={states[state].tone}>{states[state].label}</State>,
                },
                { title: 'Why', cell: ({ reason, reference }) => reason ?? reference ?? '–' },
                { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
                { title: 'Next attempt', cell: ({ nextAttemptAt }) => <MaybeAt at={nextAttemptAt} /> },
                {
                  title: 'Done',
                  cell: ({ doneAt, requestedAt, confirmedBy }) => (
                    <div className="stack tight">
                      <MaybeAt at={doneAt ?? requestedAt} />
                      {confirmedBy === null ? null : (
                        <span className="soft" dir="auto">
                          confirmed by {confirmedBy}
                        </span>
                      )}
                    </div>
                  ),
                },
                {
                  title: '',
                  cell: (target) =>
                    mayChange && ['manual', 'failed'].includes(target.state) ? (
                      <button type="button" onClick={() => setConfirming(target)}>
                        Confirm deletion
                      </button>
                    ) : null,
                },
              ]}
            />
          )}
        </Card>
      )}
      {confirming === undefined ? null : (
        <Confirm
          title={`Is the person deleted at ${confirming.name}?`}
          action="Confirm deletion"
          onDone={() => setConfirming(undefined)}
          onConfirm={async () => void (await confirm.mutateAsync(confirming.id))}
        >
          <p>The certificate will state that it is deleted there, and name this key.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Deleted({ erasure }: { readonly erasure: Erasure }): ReactElement {
  const { counts } = erasure;
  return (
    <>
      <Card title="Deleted here">
        <dl className="facts">
          <dt>Erased</dt>
          <dd>
            <At at={erasure.erasedAt} />
          </dd>
          <dt>By</dt>
          <dd dir="auto">{erasure.actorName}</dd>
          <dt>Due everywhere</dt>
          <dd>
            <MaybeAt at={erasure.dueAt} />
          </dd>
          <dt>Visitors</dt>
          <dd>{counts.visitors}</dd>
          <dt>Identifiers</dt>
          <dd>{counts.identifiers}</dd>
          <dt>Recent events</dt>
          <dd>{counts.recentEvents}</dd>
          <dt>Experiment assignments</dt>
          <dd>{counts.experimentAssignments}</dd>
          <dt>Suppressed</dt>
          <dd>{erasure.suppressed ? 'Yes' : 'No'}</dd>
        </dl>
      </Card>
      <CertificateCard id={erasure.id} />
    </>
  );
}

/** Explains how to verify the certificate. */
function CertificateCard({ id }: { readonly id: string }): ReactElement {
  return (
    <Card title="Certificate">
      <p>
        The certificate states what was erased where, and what is kept until when. It is signed with the account’s key.
        To verify it, save the account’s public keys (<code>GET /rest/v1/account/keys</code>) as <code>keys.json</code>{' '}
        and run:
      </p>
      <Code label="Verify the certificate" text={`npm run verify-certificate -- erasure-${id}.json --jwks keys.json`} />
    </Card>
  );
}

function MaybeAt({ at }: { readonly at: string | null }): ReactElement {
  return at === null ? <>–</> : <At at={at} />;
}

async function download(path: string, id: string): Promise<void> {
  const certificate = await request<unknown>('GET', `${path}/certificate`);
  saveFile(`erasure-${id}.json`, JSON.stringify(certificate));
}
