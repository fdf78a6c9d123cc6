import { expect, test } from 'vitest';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { refuseTwins } from './refuse-twins.ts';
import { buildSnapshot, emptySnapshot } from './snapshot.ts';

const snapshot = (collection: CollectionName, ...entities: readonly object[]): Snapshot =>
  buildSnapshot((name) => (name === collection ? entities.map((one, index) => ({ id: `${index}`, ...one })) : []));

test.each([
  ['consentSettings', { name: 'Marketing' }, { name: 'marketing' }, 'has this name: marketing'],
  ['experiments', { key: 'button' }, { key: 'button' }, 'has this key: button'],
  ['experimentSettings', {}, {}, 'already has its experiment setting'],
] as const)('twins: two entities that %s may not have are a conflict: %j, %j', (collection, one, other, problem) => {
  const refuse = (): void => refuseTwins(snapshot(collection, one), snapshot(collection, one, other));
  expect(refuse).toThrow(expect.objectContaining({ status: 409, message: expect.stringContaining(problem) }));
});

test('twins: entities of other names and of collections without unique names are accepted', () => {
  for (const after of [
    snapshot('consentSettings', { name: 'Marketing' }, { name: 'Sales' }),
    snapshot('experiments', { key: 'button', name: 'A' }, { key: 'Button', name: 'A' }),
    snapshot('destinations', { name: 'A' }, { name: 'A' }),
  ]) {
    expect(() => refuseTwins(emptySnapshot, after)).not.toThrow();
  }
});

test('twins: a collection that had twins before is not checked', () => {
  const twins = snapshot('consentSettings', { name: 'a' }, { name: 'a' });
  expect(() => refuseTwins(twins, twins)).not.toThrow();
});
