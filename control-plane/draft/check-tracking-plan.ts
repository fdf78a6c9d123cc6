import type { DataGovernanceEventBody, DataGovernanceRuleBody } from '../../shared/collections/data-governance.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import { compilePlanPath, compilePlannedPath } from '../../shared/routing/tracking-plan/plan-path.ts';
import { compileRuleType } from '../../shared/routing/tracking-plan/rule-types.ts';
import { problemsOf } from '../../shared/routing/values/plan-error.ts';

/** Problems of a planned event: names that are no paths, and allowed values that do not have their property's type. */
export function checkPlannedEvent({ properties }: DataGovernanceEventBody): readonly FieldProblem[] {
  return properties.flatMap(({ name, type, allowedValues }, index): readonly FieldProblem[] => {
    const unusable = problemsOf(() => compilePlannedPath(`event_properties.${name}`, `properties[${index}].name`));
    if (unusable.length > 0) return unusable;
    if (allowedValues === null || allowedValues === undefined) return [];
    const isOther = (value: unknown): boolean => type !== 'any' && type !== 'array' && typeof value !== type;
    if (type !== 'object' && !allowedValues.some(isOther)) return [];
    const field = `properties[${index}].allowedValues`;
    return [
      { field, problem: type === 'object' ? 'must be left out for an object' : `must be values of the type ${type}` },
    ];
  });
}

/**
 * Problems of a rule: a path or type that cannot be compiled, or an action that removes what consent or identity needs.
 */
export function checkPlanRule({ property, type, expected, action }: DataGovernanceRuleBody): readonly FieldProblem[] {
  return [
    ...problemsOf(() => compilePlanPath(property, 'property')),
    ...problemsOf(() => compileRuleType({ type, expected })),
    ...checkAction(type, property, action),
  ];
}

function checkAction(type: string, property: string, action: string): readonly FieldProblem[] {
  if (action !== 'Omit' && action !== 'Redact') return [];
  if (type === 'Required') {
    return [
      { field: 'action', problem: `must not be ${action} for Required: a property that is missing cannot be changed` },
    ];
  }
  const path = property.trim().replace(/^\$?(event\.)?/, '');
  if (/^visitor\.consent(\.|$)/.test(path)) {
    return [{ field: 'action', problem: `must not be ${action} for consent: a refusal would be lost` }];
  }
  if (action === 'Redact' && /^visitor\.(email|external_id)$/.test(path)) {
    return [
      {
        field: 'action',
        problem: 'must be Omit for an identifier: with the same redacted text, all visitors would become one',
      },
    ];
  }
  return [];
}
