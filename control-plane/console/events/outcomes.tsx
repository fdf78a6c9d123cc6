import type { ReactElement } from 'react';
import type { OutcomeName, RecentEvent } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';

export const outcomeWords: Readonly<Record<OutcomeName, readonly [Tone, string]>> = {
  delivered: ['good', 'Delivered'],
  retrying: ['warn', 'Retrying'],
  rejected: ['bad', 'Dead letter'],
  stopped: ['off', 'Stopped by a mapping'],
  globalStop: ['off', 'Stopped by a dispatch rule'],
};

export function OutcomeState({ outcome }: { readonly outcome: OutcomeName }): ReactElement {
  const [tone, word] = outcomeWords[outcome];
  return <State tone={tone}>{word}</State>;
}

type PlanOutcome = NonNullable<RecentEvent['plan']>['outcome'];

const planWords: Readonly<Record<PlanOutcome, readonly [Tone, string]>> = {
  reported: ['off', 'Breaks the plan'],
  changed: ['off', 'Changed by the plan'],
  quarantined: ['warn', 'Quarantined'],
  dropped: ['off', 'Dropped by the plan'],
};

export function PlanState({ outcome }: { readonly outcome: PlanOutcome }): ReactElement {
  const [tone, word] = planWords[outcome];
  return <State tone={tone}>{word}</State>;
}

/** The outcomes of an event, the worst first. */
export function Outcomes({ event }: { readonly event: RecentEvent }): ReactElement {
  if (event.test) return <State tone="off">Test: never sent</State>;
  const { plan } = event;
  if (plan?.outcome === 'quarantined' || plan?.outcome === 'dropped') return <PlanState outcome={plan.outcome} />;
  const order: readonly OutcomeName[] = ['rejected', 'retrying', 'delivered', 'stopped', 'globalStop'];
  const counts = order.map((name) => [name, event.outcomes.filter(({ outcome }) => outcome === name).length] as const);
  const some = counts.filter(([, count]) => count > 0);
  if (some.length === 0) return <State tone="off">Not sent yet</State>;
  return (
    <span className="row">
      {some.map(([name, count]) => {
        const [tone, word] = outcomeWords[name];
        return (
          <State key={name} tone={tone}>
            {count === 1 ? word : `${word} ${count} times`}
          </State>
        );
      })}
    </span>
  );
}
