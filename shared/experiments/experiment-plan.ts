import type { AccountConfig, UnreadableEntity } from '../contracts/config/account-config.ts';
import type { ExperimentBody, ExperimentVariant } from './experiment-bodies.ts';
import { planTokens } from './experiment-tokens.ts';
import type { ExperimentTokens, TokensConfig } from './experiment-tokens.ts';
import { planExperiment } from './plan-experiment.ts';
import type { Planned, PlannedExperiment } from './plan-experiment.ts';

/** An experiment of a version that cannot run, and why. */
export type UnplannedExperiment = { readonly experimentId: string; readonly problem: string };

/** An account's live version, as far as experiments are concerned. */
export type ExperimentsConfig = Pick<AccountConfig, 'accountId' | 'versionId'> &
  TokensConfig & {
    readonly collections: {
      readonly experiments: readonly (ExperimentBody & { readonly id: string })[];
      readonly experimentVariants: readonly ExperimentVariant[];
    };
    readonly unreadable: readonly UnreadableEntity[];
  };

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
export function compileExperimentPlan(config: ExperimentsConfig): ExperimentPlan {
  const { experimentSettings, experimentVariants } = config.collections;
  const lost = (name: string): readonly UnreadableEntity[] =>
    config.unreadable.filter(({ collection }) => collection === name);
  const isOff =
    experimentSettings.some(({ isEnabled }) => !isEnabled) ||
    lost('experimentSettings').some(({ entity }) => entity['isEnabled'] === false);
  const experiments = isOff ? [] : config.collections.experiments;
  const variantsOf = groupByExperiment(experimentVariants);
  const withLostVariant = new Set(lost('experimentVariants').map(({ entity }) => entity['experimentId']));
  const byKey = new Map<string, PlannedExperiment>();
  const unplanned: UnplannedExperiment[] = isOff
    ? []
    : [...new Set(lost('experiments').map(({ id }) => id))].map((experimentId) => ({
        experimentId,
        problem: 'it does not fit its schema',
      }));
  for (const entity of experiments) {
    const planned = withLostVariant.has(entity.id)
      ? lostVariant(entity)
      : planExperiment(entity, variantsOf.get(entity.id) ?? []);
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

function groupByExperiment(variants: readonly ExperimentVariant[]): Map<string, ExperimentVariant[]> {
  const groups = new Map<string, ExperimentVariant[]>();
  for (const variant of variants) {
    const group = groups.get(variant.experimentId);
    if (group === undefined) groups.set(variant.experimentId, [variant]);
    else group.push(variant);
  }
  return groups;
}

function lostVariant({ status }: ExperimentBody): Planned {
  return status === 'Draft' ? { kind: 'draft' } : { kind: 'unplanned', problem: 'a variant does not fit its schema' };
}

function byPrecedence(a: PlannedExperiment, b: PlannedExperiment): number {
  const rank = ({ type }: PlannedExperiment): number => (type === 'personalization' ? 0 : 1);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}
