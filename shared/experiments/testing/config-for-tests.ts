import type { SnapshotEntity } from '../../contracts/config/account-config.ts';
import type { LiveConfig } from '../../collections/read-live-collections.ts';
import { testLiveConfig } from '../../testing/test-account-config.ts';
import type { TestCollections } from '../../testing/test-account-config.ts';
import { compileExperimentPlan } from '../experiment-plan.ts';
import type { ExperimentPlan } from '../experiment-plan.ts';

/** The experiment fields that a test sets, with variants. */
export type ExperimentForTests = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly variants?: readonly SnapshotEntity[];
};

/** A control and one variant with equal weights. */
export const evenVariants: readonly SnapshotEntity[] = [
  { id: 'control', name: 'Control', isControl: true, weight: null },
  { id: 'new', name: 'New', isControl: false, weight: 50 },
];

/** A published configuration with these experiments; by default an experiment is running and its key is its id. */
export function configForTests(
  experiments: readonly ExperimentForTests[],
  collections: TestCollections = {},
): LiveConfig {
  return testLiveConfig({
    experiments: experiments.map((experiment) => ({
      key: experiment.id,
      name: `Experiment ${experiment.id}`,
      status: 'Running',
      ...experiment,
    })),
    experimentVariants: experiments.flatMap(({ id, variants }) =>
      (variants ?? evenVariants).map((variant) => ({ ...variant, experimentId: id })),
    ),
    ...collections,
  });
}

/** The plan of these experiments, all of which must be able to run. */
export function planForTests(...experiments: readonly ExperimentForTests[]): ExperimentPlan {
  const plan = compileExperimentPlan(configForTests(experiments));
  const problem = plan.unplanned[0];
  if (problem !== undefined) throw new Error(`experiment ${problem.experimentId} cannot run: ${problem.problem}`);
  return plan;
}
