import type { ReactElement } from 'react';
import type { Health, HealthStatus } from '../api/types.ts';
import { State } from './feedback.tsx';
import type { Tone } from './feedback.tsx';
import { showShare } from './numbers.ts';

const words: Readonly<Record<HealthStatus, readonly [Tone, string]>> = {
  HEALTHY: ['good', 'Healthy'],
  DEGRADED: ['warn', 'Degraded'],
  UNHEALTHY: ['bad', 'Unhealthy'],
  NO_DATA: ['off', 'No data'],
};
const refused = ['bad', 'Key refused'] as const;

type HealthStateProps = { readonly health: Health; readonly isAccessRefused: boolean };

/** The health of a destination over 24 hours, or that its key or token is refused. */
export function HealthState({ health, isAccessRefused }: HealthStateProps): ReactElement {
  const [tone, word] = isAccessRefused ? refused : words[health.status];
  return (
    <State tone={tone}>
      {word}
      {health.successRate === null ? null : <span className="hint">{showShare(health.successRate)}</span>}
    </State>
  );
}

type HealthWordProps = { readonly status: HealthStatus; readonly isAccessRefused: boolean };

/** The state in one word. */
export function HealthWord({ status, isAccessRefused }: HealthWordProps): ReactElement {
  const [tone, word] = isAccessRefused ? refused : words[status];
  return <State tone={tone}>{word}</State>;
}
