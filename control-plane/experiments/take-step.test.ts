import { expect, test } from 'vitest';
import type { ExperimentStatus } from '../../shared/experiments/experiment-bodies.ts';
import { takeLifecycleStep } from './take-step.ts';
import type { LifecycleAction } from './take-step.ts';

const rollout: LifecycleAction = { kind: 'rollout', variantId: 'v' };
const table: readonly (readonly [LifecycleAction, Readonly<Record<ExperimentStatus, ExperimentStatus | null>>])[] = [
  [{ kind: 'start' }, { Draft: 'Running', Running: 'Running', Paused: null, Completed: null }],
  [{ kind: 'pause' }, { Draft: null, Running: 'Paused', Paused: 'Paused', Completed: null }],
  [{ kind: 'resume' }, { Draft: null, Running: 'Running', Paused: 'Running', Completed: null }],
  [{ kind: 'stop' }, { Draft: null, Running: 'Completed', Paused: 'Completed', Completed: 'Completed' }],
  [rollout, { Draft: null, Running: 'Completed', Paused: 'Completed', Completed: 'Completed' }],
];

test.each(table)(
  'lifecycle: $kind is allowed in the listed states, and leads to the listed ones',
  (action, expected) => {
    for (const [status, next] of Object.entries(expected)) {
      const step = takeLifecycleStep({ status: status as ExperimentStatus }, action);
      expect([status, step.allowed ? step.status : null]).toEqual([status, next]);
      if (step.allowed) expect(step.rolloutVariantId).toBe(action.kind === 'rollout' ? 'v' : null);
      else expect(step.problem).toMatchObject({ field: 'status', problem: expect.stringContaining(`is ${status}`) });
    }
  },
);
