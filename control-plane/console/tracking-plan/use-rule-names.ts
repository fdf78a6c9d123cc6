import { useList } from '../api/queries.ts';
import type { EventFields, Kept, RuleFields } from '../rules/rule.ts';

/** Names of the draft plan's rules and planned events, by id. Both, because either can quarantine an event. */
export function useRuleNames(): ReadonlyMap<string, string> {
  const rules = useList<Kept<RuleFields>>('/collections/dataGovernanceRules?limit=100');
  const events = useList<Kept<EventFields>>('/collections/dataGovernanceEvents?limit=100');
  return new Map([...rules.entities, ...events.entities].map(({ id, name }) => [id, name]));
}
