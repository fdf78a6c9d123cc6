import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { PlanTrialResult } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { RuleName } from '../events/rule-name.tsx';
import { Severity } from './plan-words.tsx';

/** Runs the draft's plan over recent events and shows the effect. */
export function PlanTrial(): ReactElement | null {
  const mayTry = useScope('event:list');
  const trial = useChange(() => request<PlanTrialResult>('POST', '/tracking-plan/try', {}));
  if (!mayTry) return null;
  return (
    <Card
      title="Try the draft"
      aside={
        <button type="button" disabled={trial.isPending} onClick={() => trial.mutate(undefined)}>
          {trial.isPending ? 'Trying …' : 'Try on recent events'}
        </button>
      }
    >
      <ErrorNote error={trial.error} />
      {trial.data === undefined ? (
        <p className="soft">
          See what the rules of the draft would do with the last 1,000 events. Nothing is sent or stored.
        </p>
      ) : (
        <div className="stack" aria-live="polite">
          <p>
            <strong>{inWords(trial.data)}</strong>
          </p>
          {trial.data.skipped === 0 ? null : (
            <p className="hint">
              {countOf(trial.data.skipped, 'event')} could not be checked: stored incompletely, or quarantined or
              dropped by the live plan.
            </p>
          )}
          {trial.data.untriedRules.length === 0 ? null : (
            <p className="hint">
              {countOf(trial.data.untriedRules.length, 'rule')} on visitor properties cannot be tried: recent events do
              not contain them.
            </p>
          )}
          {trial.data.byRule.length === 0 ? null : (
            <Table
              label="Rules that were broken"
              rows={trial.data.byRule}
              keyOf={({ rule }) => rule}
              columns={[
                { title: 'Rule', cell: (broken) => <RuleName {...broken} /> },
                { title: 'Action', cell: ({ action }) => action },
                { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
                { title: 'Events', isNumber: true, cell: ({ events }) => events.toLocaleString() },
                {
                  title: 'Samples',
                  cell: ({ samples }) => (
                    <div className="stack tight">
                      {samples.map(({ eventId, event, sample }) => (
                        <span key={eventId} className="clip" dir="auto">
                          <Link to={`/events/${encodeURIComponent(eventId)}`}>{event}</Link> <code>{sample}</code>
                        </span>
                      ))}
                    </div>
                  ),
                },
              ]}
            />
          )}
        </div>
      )}
    </Card>
  );
}

/** A sentence such as `Of the last 1,000 events, the draft would have quarantined 12, changed 40.` */
function inWords({ tried, quarantined, dropped, changed, isComplete }: PlanTrialResult): string {
  const parts = [
    ['quarantined', quarantined],
    ['dropped', dropped],
    ['changed', changed],
  ] as const;
  const some = parts.filter(([, count]) => count > 0).map(([verb, count]) => `${verb} ${count.toLocaleString()}`);
  const what = some.length === 0 ? 'passed all unchanged' : some.join(', ');
  const before = isComplete ? '' : ' The trial reached its time limit and stopped early.';
  return `Of the last ${countOf(tried, 'event')}, the draft would have ${what}.${before}`;
}
