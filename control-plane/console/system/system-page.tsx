import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import type { Finding, Partition, SystemProcesses } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { showCount, showMs } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { AlertsCard } from './alerts-card.tsx';
import { WorkCard } from './work-card.tsx';

const levels = { ok: ['good', 'OK'], warn: ['warn', 'Check'], fail: ['bad', 'Fix'] } as const;

/** The installation: processes with their configuration, backlogs, and findings of the doctor. */
export function SystemPage(): ReactElement {
  return (
    <Page title="System" lead="Processes and the log, shared by all accounts.">
      <AlertsCard />
      <Findings />
      <Processes />
      <Partitions />
      <WorkCard />
    </Page>
  );
}

function Processes(): ReactElement {
  const query = useRead<SystemProcesses>('/system/processes', { everyMs: 2_000 });
  const revision = query.data?.revision ?? 0;
  const controlPlanes = query.data?.controlPlanes ?? [];
  return (
    <Card title="Running processes" isFlush>
      <Waiting query={query} />
      {query.data?.entities.length === 0 ? (
        <Empty title="No gateway and no pipeline is running.">
          <p>Events are refused, and stored events wait. Start both.</p>
        </Empty>
      ) : null}
      {query.data === undefined || query.data.entities.length === 0 ? null : (
        <Table
          label="Running processes"
          rows={query.data.entities}
          keyOf={({ kind, instanceId }) => `${kind} ${instanceId}`}
          columns={[
            { title: 'Process', cell: ({ kind }) => kind },
            { title: 'Version', cell: ({ version }) => version ?? 'not known' },
            { title: 'Instance', cell: ({ instanceId }) => <span className="clip mono">{instanceId}</span> },
            {
              title: 'Configuration',
              cell: (one) =>
                one.revision >= revision ? (
                  <State tone="good">The newest, revision {one.revision}</State>
                ) : (
                  <State tone="warn">
                    Revision {one.revision} of {revision}
                  </State>
                ),
            },
            {
              title: 'State',
              cell: ({ isLeaving }) =>
                isLeaving ? <State tone="warn">Stopping</State> : <State tone="good">Running</State>,
            },
            { title: 'Configuration since', cell: ({ revisionAt }) => <Ago at={revisionAt} /> },
            { title: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
            { title: 'Last seen', isNumber: true, cell: ({ heardMsAgo }) => `${showMs(heardMsAgo)} ago` },
          ]}
        />
      )}
      {controlPlanes.length === 0 ? null : (
        <Table
          label="Control planes"
          rows={controlPlanes}
          keyOf={({ address, connectedAt }) => `${address ?? ''} ${connectedAt}`}
          columns={[
            { title: 'Process', cell: () => 'control plane' },
            { title: 'Version', cell: ({ version }) => version ?? 'not known' },
            {
              title: 'Connects from',
              cell: ({ address }) => <span className="mono">{address ?? 'this machine'}</span>,
            },
            {
              title: 'State',
              cell: ({ isLeader }) => <State tone="good">{isLeader ? 'Running, publishes' : 'Running'}</State>,
            },
            { title: 'Connected', cell: ({ connectedAt }) => <Ago at={connectedAt} /> },
          ]}
        />
      )}
    </Card>
  );
}

function Partitions(): ReactElement {
  const query = useRead<{ readonly entities: readonly Partition[] }>('/system/partitions', { everyMs: 2_000 });
  return (
    <Card title="Events waiting to be resolved" isFlush>
      <Waiting query={query} />
      {query.data === undefined ? null : (
        <Table
          label="Events waiting to be resolved"
          rows={query.data.entities}
          keyOf={({ partition }) => String(partition)}
          columns={[
            { title: 'Partition', cell: ({ partition }) => partition },
            { title: 'Batches', isNumber: true, cell: ({ waitingFrames }) => showCount(waitingFrames) },
            {
              title: 'Oldest',
              cell: ({ oldestMs }) =>
                oldestMs === null ? (
                  <State tone="good">Nothing waits</State>
                ) : (
                  <State tone={oldestMs > 60_000 ? 'bad' : 'good'}>for {showMs(oldestMs)}</State>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function Findings(): ReactElement {
  const query = useRead<{ readonly lookedAt: string; readonly entities: readonly Finding[] }>('/system/findings', {
    everyMs: 20_000,
  });
  return (
    <Card
      title="Doctor findings"
      isFlush
      aside={
        query.data === undefined ? null : (
          <span className="hint">
            checked <Ago at={query.data.lookedAt} />
          </span>
        )
      }
    >
      <Waiting query={query} />
      {query.data === undefined ? null : (
        <Table
          label="Doctor findings"
          rows={query.data.entities}
          keyOf={({ about, detail }) => `${about} ${detail}`}
          columns={[
            { title: 'State', cell: ({ level }) => <State tone={levels[level][0]}>{levels[level][1]}</State> },
            { title: 'About', cell: ({ about }) => about },
            {
              title: 'Finding',
              cell: ({ detail, advice }) => (
                <div className="stack tight">
                  <span>{detail}</span>
                  {advice === null ? null : <span className="hint">{advice}</span>}
                </div>
              ),
            },
          ]}
        />
      )}
      <div className="body">
        <p className="hint">
          Checks of the log, of its disk if the log is on this machine, and of the database, as seen by the control
          plane that answered. <code>npm run doctor</code> also checks a machine, its memory and the secrets keys.
        </p>
      </div>
    </Card>
  );
}
