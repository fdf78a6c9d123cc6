import type { ReactElement } from 'react';
import { Link } from 'react-router';

const builtIn: Readonly<Record<string, string>> = {
  'unknown-event': 'Event is not in the plan',
  'unknown-property': 'Property is not in the plan',
  'deprecated-event': 'Event is deprecated',
  'too-costly': 'Rules take too much work to check',
};

/** A rule's label: its name or, for a built-in rule, a phrase; else its id. */
export const ruleLabel = (rule: string, name: string | null | undefined): string => name ?? builtIn[rule] ?? rule;

type Rule = {
  readonly rule: string;
  readonly ruleName: string | null;
  readonly ruleCollection: 'dataGovernanceRules' | 'dataGovernanceEvents' | null;
};

const pages = { dataGovernanceRules: 'rules', dataGovernanceEvents: 'events' };

/**
 * A rule's label, with a link to the page of the rule or of the plan's event, unless the rule is built in or was
 * deleted.
 */
export function RuleName({ rule, ruleName, ruleCollection }: Rule): ReactElement {
  const label = ruleLabel(rule, ruleName);
  if (ruleCollection === null) return <span dir="auto">{label}</span>;
  return (
    <Link className="clip" dir="auto" to={`/tracking-plan/${pages[ruleCollection]}/${encodeURIComponent(rule)}`}>
      {label}
    </Link>
  );
}
