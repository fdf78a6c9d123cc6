import { collectionNames } from '../../contracts/config/account-config.ts';
import type { AccountConfig, Snapshot, SnapshotEntity } from '../../contracts/config/account-config.ts';
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
  collections: Partial<Snapshot> = {},
): AccountConfig {
  const empty = Object.fromEntries(collectionNames.map((name) => [name, []])) as unknown as Snapshot;
  return {
    format: 1,
    accountId: 'account',
    versionId: 'version',
    versionNumber: 1,
    publishedAt: '2025-01-01T00:00:00.000Z',
    sourceKeys: [],
    collections: {
      ...empty,
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
    },
  };
}

/** The plan of these experiments, none of which may be unfit to run. */
export function planForTests(...experiments: readonly ExperimentForTests[]): ExperimentPlan {
  const plan = compileExperimentPlan(configForTests(experiments));
  const problem = plan.unplanned[0];
  if (problem !== undefined) throw new Error(`experiment ${problem.experimentId} cannot run: ${problem.problem}`);
  return plan;
}
