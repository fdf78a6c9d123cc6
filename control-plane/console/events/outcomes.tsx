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

/** What became of an event in a few words, the worst first. */
export function Outcomes({ event }: { readonly event: RecentEvent }): ReactElement {
  if (event.test) return <State tone="off">Test: never dispatched</State>;
  const order: readonly OutcomeName[] = ['rejected', 'retrying', 'delivered', 'stopped', 'globalStop'];
  const counts = order.map((name) => [name, event.outcomes.filter(({ outcome }) => outcome === name).length] as const);
  const some = counts.filter(([, count]) => count > 0);
  if (some.length === 0) return <State tone="off">Not dispatched yet</State>;
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
