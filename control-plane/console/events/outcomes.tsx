import type { ReactElement } from 'react';
import type { OutcomeName, RecentEvent } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { listOutcomes } from './list-outcomes.ts';

export const outcomeWords: Readonly<Record<OutcomeName, readonly [Tone, string]>> = {
  delivered: ['good', 'Delivered'],
  retrying: ['warn', 'Retrying'],
  rejected: ['bad', 'Dead letter'],
  stopped: ['off', 'Stopped'],
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

const testWords: Readonly<Partial<Record<PlanOutcome, readonly [Tone, string]>>> = {
  quarantined: ['off', 'Would be quarantined if live'],
  dropped: ['off', 'Would be dropped if live'],
};

type PlanStateProps = { readonly outcome: PlanOutcome; readonly isTest?: boolean };

/** What the tracking plan did with an event; for an event with a test key, what it would do if the key were live. */
export function PlanState({ outcome, isTest = false }: PlanStateProps): ReactElement {
  const [tone, word] = (isTest ? testWords[outcome] : undefined) ?? planWords[outcome];
  return <State tone={tone}>{word}</State>;
}

type OutcomesProps = {
  readonly event: RecentEvent;
  /** Undefined for a destination whose name is not known. */
  readonly destinationName: (id: string) => string | undefined;
  /** The destination that the list is filtered by: its outcome comes first. */
  readonly filteredId?: string | undefined;
};

/** The outcomes of an event by destination, the worst first. */
export function Outcomes({ event, destinationName, filteredId }: OutcomesProps): ReactElement {
  if (event.test) return <State tone="off">Test: never sent</State>;
  const { plan } = event;
  if (plan?.outcome === 'quarantined' || plan?.outcome === 'dropped') return <PlanState outcome={plan.outcome} />;
  const { listed, more } = listOutcomes(event.outcomes, filteredId);
  if (listed.length === 0) return <State tone="off">Not sent yet</State>;
  return (
    <span className="row">
      {listed.map(({ destinationId, outcome }) => {
        const [tone, word] = outcomeWords[outcome];
        const name = destinationName(destinationId);
        return (
          <State key={destinationId} tone={tone}>
            {name === undefined ? (
              word
            ) : (
              <>
                <bdi className="clip short" title={name}>
                  {name}:
                </bdi>{' '}
                {word.toLowerCase()}
              </>
            )}
          </State>
        );
      })}
      {more === 0 ? null : <span className="hint">+{more}</span>}
    </span>
  );
}
