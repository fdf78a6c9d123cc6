import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { destinationKinds } from '../destinations/registry.ts';
import { creatableDestinationTypes } from './destination-types.ts';
import { collectionNames, collectionOf, collections, isCollectionName } from './registry.ts';

test('registry: every collection is registered once, under its own name, and refers to registered collections', () => {
  expect(new Set(collectionNames).size).toBe(collections.length);
  expect(collections.length).toBeGreaterThan(16);
  for (const name of collectionNames) expect(collectionOf(name).name).toBe(name);
  for (const { references } of collections) for (const { collection } of references) collectionOf(collection);
  expect(isCollectionName('toString')).toBe(false);
  expect(() => collectionOf('toString')).toThrow('toString is not a collection');
});

test.each(collections.map((collection) => [collection.name, collection] as const))(
  '%s: what it declares fits together',
  (_name, { body, defaults, fixed, harmless, readOnly, filters, references, uniqueNames, ids, generate }) => {
    const fields = Object.keys(body.properties);
    for (const [field, value] of Object.entries(defaults)) {
      const schema = body.properties[field];
      expect([field, schema !== undefined && Value.Check(schema, value)]).toEqual([field, true]);
    }
    // A harmless field that cannot be read gets its default.
    expect(Object.keys(defaults)).toEqual(expect.arrayContaining([...harmless]));
    // Fields that the answer has but that are not stored (a source's live values) are read-only too.
    expect(fields).toEqual(expect.arrayContaining([...fixed, ...filters, ...references.map(({ field }) => field)]));
    // Clients cannot set read-only fields, so the service sets them in a new entity.
    const given = Object.keys({ ...defaults, ...generate((length) => 'x'.repeat(length)) });
    for (const field of readOnly) if (fields.includes(field)) expect(given).toContain(field);
    if (uniqueNames || ids === 'slug') expect(uniqueNames ? fields.includes('name') : true).toBe(true);
    for (const { ids: read } of references) expect(read({})).toEqual([]);
  },
);

test('references: the ids are read from an id, a list of ids or null', () => {
  const [limited] = collectionOf('destinations').references;
  expect(limited?.ids({ limitedToSourceIds: ['a', 'b'] })).toEqual(['a', 'b']);
  expect(limited?.ids({ limitedToSourceIds: null })).toEqual([]);
  const [destination] = collectionOf('mappings').references;
  expect(destination?.ids({ destinationId: 'a' })).toEqual(['a']);
});

test('destination types: every kind this build offers may be created, and is listed once', () => {
  expect(creatableDestinationTypes).toEqual(
    expect.arrayContaining(destinationKinds.map(({ descriptor }) => descriptor.id)),
  );
  expect(new Set(creatableDestinationTypes).size).toBe(creatableDestinationTypes.length);
});
