import type { AccountConfig, SnapshotEntity } from '../contracts/config/account-config.ts';
import { planTokens } from './experiment-tokens.ts';
import type { ExperimentTokens } from './experiment-tokens.ts';
import { planExperiment } from './plan-experiment.ts';
import type { PlannedExperiment } from './plan-experiment.ts';

/** An experiment of a version that cannot run, and why. */
export type UnplannedExperiment = { readonly experimentId: string; readonly problem: string };

/** What an account's version says of experiments, compiled once. */
export type ExperimentPlan = {
  readonly accountId: string;
  readonly versionId: string;
  readonly tokens: ExperimentTokens;
  readonly byKey: ReadonlyMap<string, PlannedExperiment>;
  /** In the order in which the properties of a later one win: personalizations first, then by id. */
  readonly inOrder: readonly PlannedExperiment[];
  /** Empty in a healthy system: publishing checks experiments by the same rules. */
  readonly unplanned: readonly UnplannedExperiment[];
};

/**
 * Compiles the experiments of an account's version: none where the settings take experiments off. An experiment that
 * cannot run is left out, and listed.
 */
export function compileExperimentPlan(config: AccountConfig): ExperimentPlan {
  const { experimentSettings, experimentVariants } = config.collections;
  const experiments = experimentSettings.some(({ isEnabled }) => isEnabled === false)
    ? []
    : config.collections.experiments;
  const variantsOf = groupBy(experimentVariants, ({ experimentId }) => experimentId);
  const byKey = new Map<string, PlannedExperiment>();
  const unplanned: UnplannedExperiment[] = [];
  for (const entity of experiments) {
    const planned = planExperiment(entity, variantsOf.get(entity.id) ?? []);
    switch (planned.kind) {
      case 'draft':
        break;
      case 'unplanned':
        unplanned.push({ experimentId: entity.id, problem: planned.problem });
        break;
      case 'planned':
        if (byKey.has(planned.experiment.key)) unplanned.push({ experimentId: entity.id, problem: 'its key is taken' });
        else byKey.set(planned.experiment.key, planned.experiment);
    }
  }
  return {
    accountId: config.accountId,
    versionId: config.versionId,
    tokens: planTokens(config),
    byKey,
    inOrder: [...byKey.values()].sort(byPrecedence),
    unplanned,
  };
}

function groupBy(
  entities: readonly SnapshotEntity[],
  keyOf: (entity: SnapshotEntity) => unknown,
): Map<unknown, SnapshotEntity[]> {
  const groups = new Map<unknown, SnapshotEntity[]>();
  for (const entity of entities) {
    const group = groups.get(keyOf(entity));
    if (group === undefined) groups.set(keyOf(entity), [entity]);
    else group.push(entity);
  }
  return groups;
}

function byPrecedence(a: PlannedExperiment, b: PlannedExperiment): number {
  const rank = ({ type }: PlannedExperiment): number => (type === 'personalization' ? 0 : 1);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}
