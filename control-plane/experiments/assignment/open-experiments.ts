import type { Pool } from 'pg';
import type { LogBuckets } from '../../publishing/log-buckets.ts';
import { createAssigner } from './assigner.ts';
import { createAssignmentQuota } from './assignment-quota.ts';
import type { AssignmentQuota } from './assignment-quota.ts';
import { countAssignments } from './assignment-store.ts';
import { createExperimentLimits, readExperimentLimits } from './experiment-limits.ts';
import type { ExperimentLimits } from './experiment-limits.ts';
import type { ExperimentPlans } from './experiment-plans.ts';
import { createExperimentService } from './experiment-service.ts';
import type { ExperimentService } from './experiment-service.ts';
import { createImpressionLog } from './impression-log.ts';

export type Experiments = {
  readonly service: ExperimentService;
  readonly experimentLimits: ExperimentLimits;
  readonly assignmentQuota: AssignmentQuota;
};

/** Opens the service that assigns visitors to experiments. */
export function openExperiments(
  env: Parameters<typeof readExperimentLimits>[0],
  {
    plans,
    pool,
    logBuckets,
  }: { readonly plans: ExperimentPlans; readonly pool: Pool; readonly logBuckets: LogBuckets },
  now: () => Date,
): Experiments {
  const { connection } = logBuckets;
  const { rates, assignmentsMax, visitorsWaitingMax } = readExperimentLimits(env);
  const experimentLimits = createExperimentLimits(rates);
  const assignmentQuota = createAssignmentQuota({
    assignmentsMax,
    count: (accountId) => countAssignments(pool, accountId, assignmentsMax),
    nowMs: () => performance.now(),
  });
  const assigner = createAssigner({
    pool,
    impressions: createImpressionLog({ connection, partitions: () => logBuckets.partitions }),
    limits: experimentLimits,
    quota: assignmentQuota,
    waitingMax: visitorsWaitingMax,
    now,
  });
  return { service: createExperimentService(plans, assigner), experimentLimits, assignmentQuota };
}
