import { expect, test } from 'vitest';
import { collectionOf } from '../../shared/collections/registry.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { refuseUnusable } from './check-entity.ts';

/** The refusal of an entity; undefined if it can be used. */
function refusalOf(name: CollectionName, fields: JsonObject): string | undefined {
  const collection = collectionOf(name);
  try {
    refuseUnusable(collection, { ...collection.defaults, ...fields });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'refused';
  }
}

const matching = (count: number, word: string) => ({
  OR: Array.from({ length: count }, (_, index) => ({
    condition: { property: 'event.event', operator: 'MatchesRegex', value: `${word}${String(index)}` },
  })),
});

test('check entity: the categories of a global dispatch center share one limit of regular expressions', () => {
  const categories = (...counts: readonly number[]) =>
    counts.map((count, priority) => ({ name: 'x', priority, destinationIds: [], logic: matching(count, 'a') }));
  expect(refusalOf('globalDispatchCenters', { categories: categories(60, 40) })).toBeUndefined();
  expect(refusalOf('globalDispatchCenters', { categories: categories(60, 41) })).toMatch(
    /^categories\[1\]\.logic\.OR\[40\]\.condition\.operator is one regular expression too many/,
  );
});

test.each([
  [['UK'], 0],
  [['DE', 'EL'], 1],
  [['EU-X'], 0],
  [['ZZ'], 0],
])('check entity: a consent setting with the regions %j is refused', (regions, index) => {
  expect(refusalOf('consentSettings', { name: 'ads', regions })).toMatch(
    new RegExp(`^regions\\[${String(index)}\\] must be`),
  );
});

test.each([[null], [['GB']], [['EU', 'EEA', 'GR', 'US-CA', 'XK']]])(
  'check entity: a consent setting with the regions %j can be used',
  (regions) => {
    expect(refusalOf('consentSettings', { name: 'ads', regions })).toBeUndefined();
  },
);

test('check entity: a planned property may have any name that a rule can find', () => {
  const planned = (name: string) => ({
    name: 'Ordered',
    properties: [{ name, type: 'string', isRequired: true, description: null }],
  });
  for (const name of ['Order No.', 'total ', 'a..b', 'products.price']) {
    expect(refusalOf('dataGovernanceEvents', planned(name))).toBeUndefined();
  }
  expect(refusalOf('dataGovernanceEvents', planned('.'.repeat(30)))).toMatch(
    /^properties\[0\]\.name must have at most/,
  );
});
