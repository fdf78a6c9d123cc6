import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { collectionNames } from '../contracts/config/account-config.ts';
import { destinationKinds } from '../destinations/registry.ts';
import { creatableDestinationTypes } from './destination-types.ts';
import { collectionOf, collections, isCollectionName } from './registry.ts';

test('registry: every collection a snapshot holds is declared, under its own name', () => {
  expect(collections.map(({ name }) => name).sort()).toEqual([...collectionNames].sort());
  for (const name of collectionNames) expect(collectionOf(name).name).toBe(name);
  expect(isCollectionName('toString')).toBe(false);
});

test.each(collections.map((collection) => [collection.name, collection] as const))(
  '%s: what it declares fits together',
  (_name, { body, defaults, fixed, readOnly, filters, references, uniqueNames, ids, generate }) => {
    const fields = Object.keys(body.properties);
    for (const [field, value] of Object.entries(defaults)) {
      const schema = body.properties[field];
      expect([field, schema !== undefined && Value.Check(schema, value)]).toEqual([field, true]);
    }
    // Fields of the answer that are not stored (a source's live values) are read-only too.
    expect(fields).toEqual(expect.arrayContaining([...fixed, ...filters, ...references.map(({ field }) => field)]));
    // A client cannot give what only the service sets, so a new entity has it from the service.
    const given = Object.keys({ ...defaults, ...generate((length) => 'x'.repeat(length)) });
    for (const field of readOnly) if (fields.includes(field)) expect(given).toContain(field);
    if (uniqueNames || ids === 'slug') expect(uniqueNames ? fields.includes('name') : true).toBe(true);
    for (const { ids: read } of references) expect(read({})).toEqual([]);
  },
);

test('references: are read from an id, a list of ids and null', () => {
  const [limited] = collectionOf('destinations').references;
  expect(limited?.ids({ limitedToSourceIds: ['a', 'b'] })).toEqual(['a', 'b']);
  expect(limited?.ids({ limitedToSourceIds: null })).toEqual([]);
  const [destination] = collectionOf('mappings').references;
  expect(destination?.ids({ destinationId: 'a' })).toEqual(['a']);
});

test('destination types: every kind this build offers may be created, and is there once', () => {
  expect(creatableDestinationTypes).toEqual(
    expect.arrayContaining(destinationKinds.map(({ descriptor }) => descriptor.id)),
  );
  expect(new Set(creatableDestinationTypes).size).toBe(creatableDestinationTypes.length);
});
