import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import type { Finding, Partition, SystemProcess } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { showCount, showMs } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { AlertsCard } from './alerts-card.tsx';
import { WorkCard } from './work-card.tsx';

const levels = { ok: ['good', 'Well'], warn: ['warn', 'Look at it'], fail: ['bad', 'Mend it'] } as const;

/** The installation: who is alive and what each runs, what waits, and what the doctor finds. */
export function SystemPage(): ReactElement {
  return (
    <Page title="System" lead="The processes and the log beneath, shared by all accounts.">
      <AlertsCard />
      <Processes />
      <WorkCard />
      <Partitions />
      <Findings />
    </Page>
  );
}

function Processes(): ReactElement {
  const query = useRead<{ readonly revision: number; readonly entities: readonly SystemProcess[] }>(
    '/system/processes',
    { everyMs: 2_000 },
  );
  const revision = query.data?.revision ?? 0;
  return (
    <Card title="Processes that are alive" isFlush>
      <Waiting query={query} />
      {query.data?.entities.length === 0 ? (
        <Empty title="No gateway and no pipeline is alive.">
          <p>Events are refused, and what is stored waits. Start both.</p>
        </Empty>
      ) : null}
      {query.data === undefined || query.data.entities.length === 0 ? null : (
        <Table
          label="Processes that are alive"
          rows={query.data.entities}
          keyOf={({ kind, instanceId }) => `${kind} ${instanceId}`}
          columns={[
            { title: 'Process', cell: ({ kind }) => kind },
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
                isLeaving ? <State tone="warn">Is ending</State> : <State tone="good">Works</State>,
            },
            { title: 'It has had it since', cell: ({ revisionAt }) => <Ago at={revisionAt} /> },
            { title: 'Runs since', cell: ({ startedAt }) => <Ago at={startedAt} /> },
            { title: 'Heard', isNumber: true, cell: ({ heardMsAgo }) => `${showMs(heardMsAgo)} ago` },
          ]}
        />
      )}
    </Card>
  );
}

function Partitions(): ReactElement {
  const query = useRead<{ readonly entities: readonly Partition[] }>('/system/partitions', { everyMs: 2_000 });
  return (
    <Card title="What waits to be resolved" isFlush>
      <Waiting query={query} />
      {query.data === undefined ? null : (
        <Table
          label="What waits to be resolved"
          rows={query.data.entities}
          keyOf={({ partition }) => String(partition)}
          columns={[
            { title: 'Partition', cell: ({ partition }) => partition },
            { title: 'Messages', isNumber: true, cell: ({ waitingFrames }) => showCount(waitingFrames) },
            {
              title: 'The oldest waits',
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
      title="What the doctor finds"
      isFlush
      aside={
        query.data === undefined ? null : (
          <span className="hint">
            looked <Ago at={query.data.lookedAt} />
          </span>
        )
      }
    >
      <Waiting query={query} />
      {query.data === undefined ? null : (
        <Table
          label="What the doctor finds"
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
          It looks at the log and its servers as the control plane meets them. <code>npm run doctor</code> also looks at
          a machine, its disks and the database.
        </p>
      </div>
    </Card>
  );
}
