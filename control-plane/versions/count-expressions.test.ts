import { expect, test } from 'vitest';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { publishedExpressionsMax, refuseManyExpressions } from './count-expressions.ts';

const snapshot = (given: object): Snapshot =>
  ({ ...Object.fromEntries(collectionNames.map((name) => [name, []])), ...given }) as unknown as Snapshot;

const rules = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index),
    isEnabled: true,
    type: 'Pattern',
    expected: `a${String(index)}`,
    ...more,
  }));
const logic = {
  AND: [{ NOT: { condition: { property: 'event.event', operator: 'DoesNotMatchRegexIgnoreCase', value: 'a0' } } }],
};

test('expressions: an account has a limit of different regular expressions', () => {
  const most = publishedExpressionsMax;
  for (const given of [
    { dataGovernanceRules: rules(most) },
    { dataGovernanceRules: [...rules(most), ...rules(most)] },
    { dataGovernanceRules: [...rules(most), ...rules(most + 1, { isEnabled: false })] },
    { dataGovernanceRules: rules(most + 1, { type: 'OneOf' }) },
    {
      dataGovernanceRules: rules(most - 1),
      mappings: [
        { id: 'm', logic },
        { id: 'n', logic: null },
      ],
    },
  ]) {
    expect(() => refuseManyExpressions(snapshot(given))).not.toThrow();
  }
  for (const given of [
    { dataGovernanceRules: rules(most + 1) },
    // Another expression, because it ignores case.
    { dataGovernanceRules: rules(most), mappings: [{ id: 'm', logic }] },
    { dataGovernanceRules: rules(most), globalDispatchCenters: [{ id: 'c', categories: [{ logic }] }] },
  ]) {
    expect(() => refuseManyExpressions(snapshot(given))).toThrow(/501 different regular expressions/);
  }
});
