import type { Page } from './page.ts';
import { compileQueryRule } from './query-rule.ts';
import type { QueryRule } from './query-rule.ts';
import { compileUrlPattern } from './url-pattern.ts';

/** Says whether an experiment may run on a page. */
export type Eligibility = (page: Page) => boolean;

/**
 * Compiles where an experiment may run: on a page that one of the URL patterns matches (none: on all) and for whose
 * query every rule holds. A page whose address or query was not told is not judged by it.
 * Throws PlanError naming the field for a pattern or a rule that cannot run.
 */
export function compileEligibility(urlPatterns: readonly string[], queryRules: readonly QueryRule[]): Eligibility {
  const patterns = urlPatterns.map((pattern, index) => compileUrlPattern(pattern, `urlPatterns[${String(index)}]`));
  const rules = queryRules.map((rule, index) => ({
    parameter: rule.parameter,
    holds: compileQueryRule(rule, `queryRules[${String(index)}]`),
  }));
  return ({ address, parameters }) =>
    (address === undefined || patterns.length === 0 || patterns.some((matches) => matches(address))) &&
    (parameters === undefined || rules.every(({ parameter, holds }) => holds(parameters.get(parameter) ?? [])));
}
