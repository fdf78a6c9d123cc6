import type { SnapshotEntity } from '../../contracts/config/account-config.ts';
import type { LiveConfig } from '../../collections/read-live-collections.ts';
import { testLiveConfig } from '../../testing/test-account-config.ts';
import type { TestCollections } from '../../testing/test-account-config.ts';
import { compileExperimentPlan } from '../experiment-plan.ts';
import type { ExperimentPlan } from '../experiment-plan.ts';

/** Fields of an experiment that a test cares about, with its variants. */
export type ExperimentForTests = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly variants?: readonly SnapshotEntity[];
};

/** A control and one variant that share the visitors evenly. */
export const evenVariants: readonly SnapshotEntity[] = [
  { id: 'control', name: 'Control', isControl: true, weight: null },
  { id: 'new', name: 'New', isControl: false, weight: 50 },
];

/** A published configuration with these experiments; one is running, its key is its id, unless it says otherwise. */
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

/** The plan of these experiments, none of which may be unfit to run. */
export function planForTests(...experiments: readonly ExperimentForTests[]): ExperimentPlan {
  const plan = compileExperimentPlan(configForTests(experiments));
  const problem = plan.unplanned[0];
  if (problem !== undefined) throw new Error(`experiment ${problem.experimentId} cannot run: ${problem.problem}`);
  return plan;
}
