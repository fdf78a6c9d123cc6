import type { AccountConfig, UnreadableEntity } from '../contracts/config/account-config.ts';
import type { ExperimentTokens, TokensConfig } from './experiment-tokens.ts';
import { planTokens } from './experiment-tokens.ts';
import { PlanError } from '../routing/values/plan-error.ts';
import type { VariantRange } from './bucketing.ts';
import { bucketsInAll, bucketsOfPercent, rangeVariants } from './bucketing.ts';
import type { ExperimentBody, ExperimentStatus, ExperimentType, ExperimentVariant } from './experiment-bodies.ts';
import { checkVariants } from './validate-experiment.ts';
import type { Page } from './page.ts';
import type { QueryRule } from './query-rule.ts';
import { compileQueryRule } from './query-rule.ts';
import { compileUrlPattern } from './url-pattern.ts';

/** An experiment that cannot run, with the reason. */
export type UnplannedExperiment = { readonly experimentId: string; readonly problem: string };

/** The part of an account's live version that experiments need. */
export type ExperimentsConfig = Pick<AccountConfig, 'accountId' | 'versionId'> &
  TokensConfig & {
    readonly collections: {
      readonly experiments: readonly (ExperimentBody & { readonly id: string })[];
      readonly experimentVariants: readonly ExperimentVariant[];
    };
    readonly unreadable: readonly UnreadableEntity[];
  };

/** The experiments of an account's version, compiled once. */
export type ExperimentPlan = {
  readonly accountId: string;
  readonly versionId: string;
  readonly tokens: ExperimentTokens;
  readonly byKey: ReadonlyMap<string, PlannedExperiment>;
  /** Personalizations, then tests, each by id. Properties of a later experiment override those of an earlier one. */
  readonly inOrder: readonly PlannedExperiment[];
  /** Empty in a healthy system, since publishing applies the same checks. */
  readonly unplanned: readonly UnplannedExperiment[];
};

/**
 * Compiles the experiments of an account's version. If the settings disable experiments, the plan is empty. An
 * experiment that cannot run is left out and listed in `unplanned`.
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
  const lostVariants = new Map(lost('experimentVariants').map((variant) => [variant.entity['experimentId'], variant]));
  const byKey = new Map<string, PlannedExperiment>();
  const unplanned: UnplannedExperiment[] = isOff
    ? []
    : [...new Map(lost('experiments').map((entity) => [entity.id, entity])).values()].map(({ id, field }) => ({
        experimentId: id,
        problem: `${field} is missing or not valid`,
      }));
  for (const entity of experiments) {
    const lostVariant = lostVariants.get(entity.id);
    const planned =
      lostVariant !== undefined
        ? withoutVariant(entity, lostVariant)
        : planExperiment(entity, variantsOf.get(entity.id) ?? []);
    switch (planned.kind) {
      case 'draft':
        break;
      case 'unplanned':
        unplanned.push({ experimentId: entity.id, problem: planned.problem });
        break;
      case 'planned':
        if (byKey.has(planned.experiment.key))
          unplanned.push({ experimentId: entity.id, problem: 'its key is used by another experiment' });
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

function withoutVariant({ status }: ExperimentBody, { id, field }: UnreadableEntity): Planned {
  if (status === 'Draft') return { kind: 'draft' };
  return { kind: 'unplanned', problem: `${field} of variant ${id} is missing or not valid` };
}

function byPrecedence(a: PlannedExperiment, b: PlannedExperiment): number {
  const rank = ({ type }: PlannedExperiment): number => (type === 'personalization' ? 0 : 1);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}

/** A started experiment, ready to assign visitors. */
export type PlannedExperiment = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly type: ExperimentType;
  readonly status: Exclude<ExperimentStatus, 'Draft'>;
  /** Visitors whose allocation bucket is below this value take part. */
  readonly allocationEnd: number;
  readonly ranges: readonly VariantRange<ExperimentVariant>[];
  readonly variants: ReadonlyMap<string, ExperimentVariant>;
  /** The variant of every visitor after completion. */
  readonly rollout: ExperimentVariant | undefined;
  readonly isEligible: Eligibility;
  /** Name of the event that counts as a conversion. */
  readonly metricEvent: string | undefined;
};

/** The outcome of compiling an experiment of a version. A version should not contain drafts. */
type Planned =
  | { readonly kind: 'planned'; readonly experiment: PlannedExperiment }
  | { readonly kind: 'unplanned'; readonly problem: string }
  | { readonly kind: 'draft' };

/** Compiles an experiment of a version with its variants. */
function planExperiment(
  body: ExperimentBody & { readonly id: string },
  variants: readonly ExperimentVariant[],
): Planned {
  const { key, name, type, status } = body;
  if (status === 'Draft') return { kind: 'draft' };
  const wrong = checkVariants(body, variants)[0];
  if (wrong !== undefined) return { kind: 'unplanned', problem: `${wrong.field} ${wrong.problem}` };
  const isEligible = tryCompileEligibility(body.urlPatterns, body.queryRules);
  if (isEligible instanceof PlanError) return { kind: 'unplanned', problem: isEligible.message };
  const experiment: PlannedExperiment = {
    id: body.id,
    key,
    name,
    type,
    status,
    allocationEnd: type === 'personalization' ? bucketsInAll : bucketsOfPercent(body.trafficAllocation),
    ranges: rangeVariants(variants),
    variants: new Map(variants.map((variant) => [variant.id, variant])),
    rollout: status === 'Completed' ? variants.find(({ id }) => id === body.rolloutVariantId) : undefined,
    isEligible,
    metricEvent: body.primaryMetric?.event,
  };
  return { kind: 'planned', experiment };
}

function tryCompileEligibility(...rules: Parameters<typeof compileEligibility>): Eligibility | PlanError {
  try {
    return compileEligibility(...rules);
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
}

/**
 * Returns whether an experiment may run on a page. Throws OverBudgetError if the check exceeds the budget of
 * `page.work`.
 */
type Eligibility = (page: Page) => boolean;

/**
 * Compiles an experiment's page conditions: one of the URL patterns must match (unless there are none), and every query
 * rule must hold. Patterns are not checked for a page without an address, and rules are not checked for a page without
 * parameters. Throws PlanError naming the field for an invalid pattern or rule.
 */
export function compileEligibility(urlPatterns: readonly string[], queryRules: readonly QueryRule[]): Eligibility {
  const patterns = urlPatterns.map((pattern, index) => compileUrlPattern(pattern, `urlPatterns[${String(index)}]`));
  const rules = queryRules.map((rule, index) => ({
    parameter: rule.parameter,
    holds: compileQueryRule(rule, `queryRules[${String(index)}]`),
  }));
  return ({ address, parameters, work }) => {
    const isPlace =
      address === undefined || patterns.length === 0 || patterns.some((matches) => matches(address, work));
    if (!isPlace) return false;
    if (parameters === undefined) return true;
    return rules.every(({ parameter, holds }) => {
      const values = parameters.get(parameter) ?? [];
      work?.spend(values.reduce((units, value) => units + 1 + value.length, 1));
      return holds(values);
    });
  };
}
