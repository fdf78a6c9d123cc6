import { PlanOutcomes } from '../recent/plan-outcomes.ts';
import { AccountCounts } from './account-counts.ts';
import { Violations } from './violations.ts';

/** What a resolver records about tracking plans. */
export type PlanFigures = {
  /** Broken rules, by the id of the rule. */
  readonly hits: AccountCounts;
  /** Broken rules by event, source and version of the app, until they are written. */
  readonly violations: Violations;
  /** Outcomes of events under tracking plans, for the view of recent events. */
  readonly outcomes: PlanOutcomes;
};

export function createPlanFigures(): PlanFigures {
  return { hits: new AccountCounts('plan_hits'), violations: new Violations(), outcomes: new PlanOutcomes() };
}
