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

/** The health of a destination over 24 hours. */
export function HealthState({ health }: { readonly health: Health }): ReactElement {
  const [tone, word] = words[health.status];
  return (
    <State tone={tone}>
      {word}
      {health.successRate === null ? null : <span className="hint">{showShare(health.successRate)}</span>}
    </State>
  );
}

/** The state in one word. */
export function HealthWord({ status }: { readonly status: HealthStatus }): ReactElement {
  const [tone, word] = words[status];
  return <State tone={tone}>{word}</State>;
}
