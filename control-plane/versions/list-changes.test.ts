import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySnapshot } from '../testing/snapshot-arbitraries.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { diffSnapshots } from './diff.ts';
import { listChanges, namesIn } from './list-changes.ts';

const destination = (own: Record<string, unknown>) => ({ id: 'd', createdAt: '2030-01-01T00:00:00.000Z', ...own });

test('changes: a nested field is named by its path, and unchanged fields are left out', () => {
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
      label: null,
      change: 'modified',
      fields: [{ path: 'settings.url', old: 'x', new: 'y' }],
    },
  ]);
});

test('changes: a changed secret is listed with both values masked', () => {
  const baseline = { ...emptySnapshot, destinations: [destination({ settings: { token: 'enc:v1:one' } })] };
  const target = { ...emptySnapshot, destinations: [destination({ settings: { token: 'enc:v1:two' } })] };
  const changes = listChanges(baseline, target);
  expect(changes[0]?.fields).toEqual([{ path: 'settings.token', old: '********', new: '********' }]);
  expect(JSON.stringify(listChanges(emptySnapshot, target))).not.toContain('enc:v1');
});

test('changes: a mapping row is named by its property, a new order is a change of the whole list, and ids are shown as names', () => {
  const row = (property: string, map: string) => ({ property, map, modification: 'None' });
  const mapping = (...rows: object[]) => ({
    ...emptySnapshot,
    mappings: [destination({ destinationId: 'shop', mappings: rows })],
  });
  const [a, b] = [row('total', '{{a}}'), row('coupon', '{{b}}')];
  const fieldsOf = (...now: object[]) => listChanges(mapping(a, b), mapping(...now))[0]?.fields;
  expect(fieldsOf(b, row('total', '{{c}}'), row('tax', '1'))).toEqual([
    { path: 'mappings[total].map', old: '{{a}}', new: '{{c}}' },
    { path: 'mappings[tax].map', new: '1' },
    { path: 'mappings[tax].modification', new: 'None' },
  ]);
  expect(fieldsOf(b, a)).toEqual([{ path: 'mappings', old: [a, b], new: [b, a] }]);
  const destinations = [{ ...destination({ name: 'Shop' }), id: 'shop' }, destination({ name: 'Other' })];
  const target = { ...mapping(a), destinations };
  expect(namesIn(listChanges({ ...emptySnapshot, destinations }, target), [target])).toEqual({ shop: 'Shop' });
});

test('changes: as many changes are listed as the diff counts', () => {
  fc.assert(
    fc.property(anySnapshot, anySnapshot, (baseline, target) => {
      expect(listChanges(baseline, target)).toHaveLength(diffSnapshots(baseline, target).count);
    }),
  );
});
