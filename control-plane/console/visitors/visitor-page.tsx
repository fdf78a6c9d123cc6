import { useState } from 'react';
import type { ReactElement } from 'react';
import { useNavigate, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { RecentEvent, Visitor } from '../api/types.ts';
import { Code, showJson } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Card, Page } from '../design/page.tsx';
import { More } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { EventTable } from '../events/event-table.tsx';
import { useSourceNames } from '../events/use-source-names.ts';
import { ConsentCard } from './consent-card.tsx';
import { MergesCard } from './merges-card.tsx';
import type { Erased } from './visitors-page.tsx';

/** All data stored about a visitor, and its erasure. */
export function VisitorPage(): ReactElement {
  const { id = '' } = useParams();
  const navigate = useNavigate();
  const path = `/visitors/${encodeURIComponent(id)}`;
  const query = useRead<Visitor>(path);
  const events = useList<RecentEvent>(`/events?limit=25&visitorId=${encodeURIComponent(id)}`);
  const nameOf = useSourceNames();
  const mayErase = useScope('visitor:delete');
  const maySeeErasures = useScope('erasure:find');
  const [isErasing, setErasing] = useState(false);
  const erase = useChange(() => request<Erased>('DELETE', path));
  const visitor = query.data;
  return (
    <Page
      title={visitor?.emails[0] ?? visitor?.externalIds[0] ?? 'Visitor'}
      lead={<span className="mono">{id}</span>}
      back={{ to: '/visitors', label: 'Visitors' }}
      actions={
        mayErase && visitor !== undefined ? (
          <button type="button" className="danger" onClick={() => setErasing(true)}>
            Erase
          </button>
        ) : null
      }
    >
      <Waiting query={query} />
      {visitor === undefined ? null : (
        <div className="columns">
          <Card title="Identities">
            <dl className="facts">
              <dt>Id</dt>
              <dd>{visitor.id}</dd>
              <dt>External ids</dt>
              <dd>{visitor.externalIds.length === 0 ? 'none' : visitor.externalIds.join(', ')}</dd>
              <dt>E-mail</dt>
              <dd>{visitor.emails.length === 0 ? 'none' : visitor.emails.join(', ')}</dd>
              <dt>Merged from</dt>
              <dd>{visitor.aliases.length === 0 ? 'none' : visitor.aliases.join(', ')}</dd>
              <dt>First seen</dt>
              <dd>
                <At at={visitor.createdAt} />
              </dd>
              <dt>Last change</dt>
              <dd>
                <At at={visitor.updatedAt} />
              </dd>
            </dl>
          </Card>
          <ConsentCard consent={visitor.properties['consent']} />
          <Card title="Profile">
            <Code label="Properties" text={showJson(visitor.properties)} />
          </Card>
        </div>
      )}
      {visitor === undefined ? null : <MergesCard visitorId={visitor.id} nameOf={nameOf} />}
      <Card title="Recent events" isFlush>
        <Waiting query={events} />
        {events.isSuccess ? <EventTable events={events.entities} nameOf={nameOf} /> : null}
        <More query={events} />
      </Card>
      {isErasing && visitor !== undefined ? (
        <Confirm
          title="Erase this visitor?"
          action="Erase permanently"
          isDanger
          typed="erase"
          onDone={() => setErasing(false)}
          onConfirm={async () => {
            const erased = await erase.mutateAsync(undefined);
            if (maySeeErasures) await navigate(`/erasures/${erased.erasureId}`, { state: { isNew: true } });
            else await navigate('/visitors', { state: { erased } });
          }}
        >
          <p>
            This permanently deletes the profile, its identifiers, its recent events and its experiment assignments.
            Waiting events of this visitor are not sent and cannot be replayed. By default, the log deletes them within
            7 days and dead letters within 30. Destinations are asked to delete the person too: the erasure page shows
            the state of each. If the person returns, a new profile is created.
          </p>
        </Confirm>
      ) : null}
    </Page>
  );
}
