import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySnapshot } from '../testing/snapshot-arbitraries.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { diffSnapshots } from './diff.ts';
import { listChanges } from './list-changes.ts';

const destination = (own: Record<string, unknown>) => ({ id: 'd', createdAt: '2030-01-01T00:00:00.000Z', ...own });

test('changes: a field of a field is named by its path, and what did not change is left out', () => {
  const baseline = {
    ...emptySnapshot,
    destinations: [destination({ name: 'a', settings: { url: 'x', method: 'POST' } })],
  };
  const target = {
    ...emptySnapshot,
    destinations: [destination({ name: 'a', settings: { url: 'y', method: 'POST' } })],
  };
  expect(listChanges(baseline, target)).toEqual([
    {
      collection: 'destinations',
      id: 'd',
      name: 'a',
      change: 'modified',
      fields: [{ path: 'settings.url', old: 'x', new: 'y' }],
    },
  ]);
});

test('changes: a secret shows that it changed, and neither value', () => {
  const baseline = { ...emptySnapshot, destinations: [destination({ settings: { token: 'enc:v1:one' } })] };
  const target = { ...emptySnapshot, destinations: [destination({ settings: { token: 'enc:v1:two' } })] };
  const changes = listChanges(baseline, target);
  expect(changes[0]?.fields).toEqual([{ path: 'settings.token', old: '********', new: '********' }]);
  expect(JSON.stringify(listChanges(emptySnapshot, target))).not.toContain('enc:v1');
});

test('changes: they are those the diff counts', () => {
  fc.assert(
    fc.property(anySnapshot, anySnapshot, (baseline, target) => {
      expect(listChanges(baseline, target)).toHaveLength(diffSnapshots(baseline, target).count);
    }),
  );
});
