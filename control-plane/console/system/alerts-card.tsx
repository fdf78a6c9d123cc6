import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Alerts } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';

/** The open alerts, each with its runbook page. */
export function AlertsCard(): ReactElement {
  const query = useRead<Alerts>('/system/alerts', { everyMs: 10_000 });
  const alerts = query.data;
  return (
    <Card title="Open alerts" isFlush aside={<Link to="/system/runbook">The runbook</Link>}>
      <Waiting query={query} />
      {alerts === undefined || alerts.problem === null ? null : <ErrorNote error={new Error(alerts.problem)} />}
      {alerts?.isConfigured === false ? (
        <Empty title="Alerts are not connected.">
          <p>
            Set <code>PROMETHEUS_URL</code> to the Prometheus that has the rules of <code>deploy/prometheus</code>. Its
            Alertmanager sends them by e-mail, to Slack or to a webhook.
          </p>
        </Empty>
      ) : null}
      {alerts?.isConfigured === true && alerts.problem === null && alerts.entities.length === 0 ? (
        <Empty title="No open alerts." />
      ) : null}
      {alerts === undefined || alerts.entities.length === 0 ? null : (
        <Table
          label="Open alerts"
          rows={alerts.entities}
          keyOf={({ name, summary, activeAt }) => `${name} ${summary} ${activeAt ?? ''}`}
          columns={[
            {
              title: 'State',
              cell: ({ state, severity }) =>
                state === 'pending' ? (
                  <State tone="off">Pending</State>
                ) : (
                  <State tone={severity === 'page' ? 'bad' : 'warn'}>
                    {severity === 'page' ? 'Act now' : 'On the next working day'}
                  </State>
                ),
            },
            {
              title: 'Alert',
              cell: ({ summary, description, destinationId }) => (
                <div className="stack tight">
                  {destinationId === null ? (
                    <span>{summary}</span>
                  ) : (
                    <Link to={`/destinations/${destinationId}`}>{summary}</Link>
                  )}
                  <span className="hint">{description}</span>
                </div>
              ),
            },
            { title: 'Since', cell: ({ activeAt }) => <Ago at={activeAt} /> },
            {
              title: 'What to do',
              cell: ({ name }) => <Link to={`/system/runbook/${name.toLowerCase()}`}>{name}</Link>,
            },
          ]}
        />
      )}
    </Card>
  );
}
