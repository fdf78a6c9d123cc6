import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { VisitorMerge } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { State, Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { At } from '../design/time.tsx';

type MergesCardProps = { readonly visitorId: string; readonly nameOf: (sourceId: string) => string };

/** The merges of a visitor, newest first. Each can be undone. */
export function MergesCard({ visitorId, nameOf }: MergesCardProps): ReactElement {
  const path = `/visitors/${encodeURIComponent(visitorId)}`;
  const merges = useList<VisitorMerge>(`${path}/merges?limit=25`);
  const maySplit = useScope('visitor:update');
  const [undoing, setUndoing] = useState<VisitorMerge>();
  const split = useChange((mergeId: string) => request('POST', `${path}/split`, { mergeId }));
  return (
    <Card title="Merges" isFlush>
      <Waiting query={merges} />
      {merges.isSuccess && merges.entities.length === 0 ? <p className="body">No other visitor was merged.</p> : null}
      {merges.entities.length === 0 ? null : (
        <Table
          label="Merges"
          rows={merges.entities}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Time', cell: ({ at }) => <At at={at} /> },
            {
              title: 'Merged visitor',
              cell: ({ loserId, overwritten }) => (
                <div className="stack tight">
                  <span className="mono clip">{loserId}</span>
                  {overwritten.length === 0 ? null : <span className="hint">changed {overwritten.join(', ')}</span>}
                </div>
              ),
            },
            { title: 'Cause', cell: ({ cause }) => <Cause cause={cause} nameOf={nameOf} /> },
            {
              title: 'Actions',
              cell: (merge) => {
                if (merge.undoneAt !== null) return <State tone="off">Undone</State>;
                return maySplit ? (
                  <button type="button" className="danger" onClick={() => setUndoing(merge)}>
                    Split
                  </button>
                ) : null;
              },
            },
          ]}
        />
      )}
      <More query={merges} />
      {undoing === undefined ? null : (
        <Confirm
          title="Split these visitors?"
          action="Split"
          isDanger
          onDone={() => setUndoing(undefined)}
          onConfirm={() => split.mutateAsync(undoing.id)}
        >
          <p>
            Visitor <span className="mono">{undoing.loserId}</span> becomes a separate visitor again, with the
            properties and identifiers it had. Data added since then stays with this visitor. Events do not merge the
            two again. Split newer merges first.
          </p>
        </Confirm>
      )}
    </Card>
  );
}

function Cause({
  cause,
  nameOf,
}: {
  readonly cause: VisitorMerge['cause'];
  readonly nameOf: MergesCardProps['nameOf'];
}): ReactElement {
  const { kind, identifier, eventId, sourceId, principal } = cause;
  const what = { signIn: 'a sign-in', alias: 'an alias', api: 'a request to the API' }[kind];
  return (
    <div className="stack tight">
      <span>
        {what}
        {identifier === undefined ? '' : ', by the external id'}
        {sourceId === undefined ? '' : `, from ${nameOf(sourceId)}`}
      </span>
      {eventId === undefined ? null : (
        <Link className="hint clip" to={`/events/${encodeURIComponent(eventId)}`}>
          event {eventId}
        </Link>
      )}
      {principal === undefined ? null : <span className="hint">API key {principal}</span>}
    </div>
  );
}
