import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { Activity } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';

type Step = {
  readonly title: string;
  readonly hint: string;
  readonly to: string;
  readonly action: string;
  readonly isDone: boolean;
};

/** The steps from an empty account to the first delivery; renders nothing once all of them are done. */
export function GetStarted({ activity }: { readonly activity: Activity }): ReactElement | null {
  const steps = stepsOf(activity);
  const next = steps.find(({ isDone }) => !isDone);
  if (next === undefined) return null;
  return (
    <Card title="Get started" aside={<span className="hint">{steps.filter(({ isDone }) => isDone).length} of 4</span>}>
      <ol className="first-steps">
        {steps.map((step) => (
          <li key={step.title} aria-current={step === next ? 'step' : undefined}>
            <div>
              <State tone={step.isDone ? 'good' : 'off'}>
                {step.title}
                {step.isDone ? <span className="hidden-text"> (done)</span> : null}
              </State>
              {step.isDone ? null : <p className="hint">{step.hint}</p>}
            </div>
            {step === next ? (
              <Link className="button primary" to={step.to}>
                {step.action}
              </Link>
            ) : null}
          </li>
        ))}
      </ol>
    </Card>
  );
}

export function stepsOf({ sources, totals, live, draftChanges }: Activity): readonly Step[] {
  const firstSource = sources[0];
  const toSource = firstSource === undefined ? '/sources' : `/sources/${firstSource.id}`;
  return [
    {
      title: 'Connect a source',
      hint: 'A source is a web site, an app, a server or a webhook. It has the key that events are sent with.',
      to: '/sources',
      action: 'Add a source',
      isDone: totals.sources > 0,
    },
    {
      title: 'Publish the draft',
      hint: 'Sources and destinations take effect when you publish.',
      to: '/draft',
      action: 'Review and publish',
      isDone: live !== null && (draftChanges === 0 || totals.liveSources > 0),
    },
    {
      title: 'See an event',
      hint: 'The page of the source has the address, the key and a snippet for each library.',
      to: toSource,
      action: 'Send an event',
      isDone: totals.usedSources > 0,
    },
    {
      title: 'Add a destination',
      hint: 'A destination receives the events that its rules allow, once it is published.',
      to: totals.destinations === 0 ? '/destinations/new' : '/draft',
      action: totals.destinations === 0 ? 'Add a destination' : 'Review and publish',
      isDone: totals.liveDestinations > 0,
    },
  ];
}
