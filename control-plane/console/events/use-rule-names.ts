import { useList } from '../api/queries.ts';

type Named = { readonly id: string; readonly name: string };
type NamedRule = { readonly ruleName: string; readonly ruleCollection: 'dataGovernanceRules' | 'dataGovernanceEvents' };

/** The draft plan's rules and planned events, by id: either can quarantine an event. */
export function useRuleNames(): ReadonlyMap<string, NamedRule> {
  const rules = useList<Named>('/collections/dataGovernanceRules?limit=100');
  const events = useList<Named>('/collections/dataGovernanceEvents?limit=100');
  const named = (ruleCollection: NamedRule['ruleCollection'], kept: readonly Named[]) =>
    kept.map(({ id, name }) => [id, { ruleName: name, ruleCollection }] as const);
  return new Map([...named('dataGovernanceRules', rules.entities), ...named('dataGovernanceEvents', events.entities)]);
}
