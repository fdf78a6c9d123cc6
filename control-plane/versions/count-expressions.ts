import type { Snapshot } from '../../shared/collections/registry.ts';
import { isOperatorName, operators } from '../../shared/routing/predicate/operators.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';

/**
 * Maximum number of different regular expressions in the rules of an account. Each may take ten milliseconds to compile,
 * in threads that all accounts share.
 */
export const publishedExpressionsMax = 500;

/** Throws a 400 for rules with too many regular expressions. */
export function refuseManyExpressions(snapshot: Snapshot): void {
  const found = new Set<string>();
  for (const { isEnabled, type, expected } of snapshot.dataGovernanceRules) {
    if (isEnabled !== false && type === 'Pattern') found.add(`false ${String(expected)}`);
  }
  addExpressions(found, [snapshot.mappings, snapshot.globalDispatchCenters]);
  if (found.size <= publishedExpressionsMax) return;
  throw badRequest(
    `the rules have ${found.size} different regular expressions: an account may have at most ${publishedExpressionsMax}`,
    'they are in the Pattern rules of the tracking plan and in conditions of mappings and global dispatch centers',
  );
}

/** Adds the expressions of all conditions within a value. */
function addExpressions(found: Set<string>, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) addExpressions(found, item);
    return;
  }
  if (!isJsonObject(value)) return;
  const { operator } = value;
  if (isOperatorName(operator) && operators[operator].takes === 'expression') {
    found.add(`${String(operator.endsWith('IgnoreCase'))} ${String(value['value'])}`);
  }
  for (const member of Object.values(value)) addExpressions(found, member);
}
