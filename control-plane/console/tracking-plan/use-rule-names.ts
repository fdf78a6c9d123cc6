import { useList } from '../api/queries.ts';
import type { EventFields, Kept, RuleFields } from '../rules/rule.ts';

type NamedRule = { readonly ruleName: string; readonly ruleCollection: 'dataGovernanceRules' | 'dataGovernanceEvents' };

/** The draft plan's rules and planned events, by id. Both, because either can quarantine an event. */
export function useRuleNames(): ReadonlyMap<string, NamedRule> {
  const rules = useList<Kept<RuleFields>>('/collections/dataGovernanceRules?limit=100');
  const events = useList<Kept<EventFields>>('/collections/dataGovernanceEvents?limit=100');
  const named = (ruleCollection: NamedRule['ruleCollection'], kept: readonly { id: string; name: string }[]) =>
    kept.map(({ id, name }) => [id, { ruleName: name, ruleCollection }] as const);
  return new Map([...named('dataGovernanceRules', rules.entities), ...named('dataGovernanceEvents', events.entities)]);
}
