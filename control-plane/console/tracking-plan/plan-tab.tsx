import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import type { EventFields, Kept, RuleFields } from '../rules/rule.ts';
import { PlanTrial } from './plan-trial.tsx';
import { Severity } from './plan-words.tsx';
import { UnknownCard } from './unknown-card.tsx';

/** The rules and events of the draft's plan, the settings for unknown events and properties, and a trial. */
export function PlanTab(): ReactElement {
  const rules = useList<Kept<RuleFields>>('/collections/dataGovernanceRules?limit=100');
  const events = useList<Kept<EventFields>>('/collections/dataGovernanceEvents?limit=100');
  const mayCreate = useScope('dataGovernanceRules:create');
  const mayCreateEvents = useScope('dataGovernanceEvents:create');
  return (
    <>
      <PlanTrial />
      <Card
        title="Rules"
        isFlush
        aside={
          mayCreate ? (
            <Link className="button" to="/tracking-plan/new-rule">
              Add a rule
            </Link>
          ) : null
        }
      >
        <Waiting query={rules} />
        {rules.isSuccess && rules.entities.length === 0 ? (
          <Empty title="No rules yet.">
            <p>A rule checks a property and decides what happens to an event that breaks it.</p>
          </Empty>
        ) : null}
        {rules.entities.length === 0 ? null : (
          <Table
            label="Rules of the tracking plan"
            rows={rules.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Rule',
                cell: ({ id, name, isEnabled }) => (
                  <div className="stack tight">
                    <Link className="clip" dir="auto" to={`/tracking-plan/rules/${encodeURIComponent(id)}`}>
                      {name}
                    </Link>
                    {isEnabled ? null : <State tone="off">Off</State>}
                  </div>
                ),
              },
              {
                title: 'Property',
                cell: ({ property, eventName }) => (
                  <div className="stack tight">
                    <code className="clip" dir="auto">
                      {property}
                    </code>
                    <span className="hint" dir="auto">
                      {eventName === null ? 'of every event' : `of ${eventName}`}
                    </span>
                  </div>
                ),
              },
              {
                title: 'Check',
                cell: ({ type, expected }) => (
                  <span className="clip short" dir="auto">
                    {expected === null ? type : `${type} ${expected}`}
                  </span>
                ),
              },
              { title: 'Action', cell: ({ action }) => action },
              { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
            ]}
          />
        )}
        <More query={rules} />
      </Card>
      <Card
        title="Planned events"
        isFlush
        aside={
          mayCreateEvents ? (
            <Link className="button" to="/tracking-plan/new-event">
              Add a planned event
            </Link>
          ) : null
        }
      >
        <Waiting query={events} />
        {events.isSuccess && events.entities.length === 0 ? (
          <Empty title="No planned events.">
            <p>List the events you want with their properties. Once one is Approved, other events are unknown.</p>
          </Empty>
        ) : null}
        {events.entities.length === 0 ? null : (
          <Table
            label="Planned events"
            rows={events.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Event',
                cell: ({ id, name }) => (
                  <Link className="clip" dir="auto" to={`/tracking-plan/events/${encodeURIComponent(id)}`}>
                    {name}
                  </Link>
                ),
              },
              {
                title: 'Status',
                cell: ({ status }) => (
                  <State tone={status === 'Approved' ? 'good' : status === 'Deprecated' ? 'warn' : 'off'}>
                    {status}
                  </State>
                ),
              },
              { title: 'Properties', isNumber: true, cell: ({ properties }) => properties.length },
              { title: 'Action', cell: ({ action }) => action },
            ]}
          />
        )}
        <More query={events} />
      </Card>
      <UnknownCard />
    </>
  );
}
