import { expect, test } from 'vitest';
import { createSecretBox, settingContext } from '../../../shared/contracts/config/secrets.ts';
import { findVisitorReads } from './visitor-reads.ts';

const box = createSecretBox(Buffer.alloc(32, 7).toString('base64'));
const readsOf = (collections: Readonly<Record<string, readonly unknown[]>>) =>
  findVisitorReads({ accountId: 'account', collections }, box);

const condition = (property: string) => ({ condition: { property, operator: 'Is', value: 'x' } });

test('visitor reads: paths in conditions, mappings and templates count, wherever in the version they are', () => {
  const reads = readsOf({
    globalDispatchCenters: [
      {
        id: 'g',
        categories: [
          { logic: { NOT: { OR: [condition('visitor.custom_properties.tier'), condition('$visitor.city')] } } },
        ],
      },
    ],
    mappings: [
      {
        id: 'm',
        logic: { AND: [condition('event.event_properties.plan')] },
        eventName: 'Hello {{ visitor.first_name }}',
        mappings: [{ property: 'a', map: '{{event.event}}: {{visitor.custom_properties.score}}' }],
      },
    ],
    destinations: [{ id: 'd', settings: { url: 'https://example.com/?zip={{visitor.zip}}', note: 'visitor' } }],
  });
  expect([...reads.own].toSorted()).toEqual(expect.arrayContaining(['city', 'custom_properties', 'first_name', 'zip']));
  expect(reads.custom).toEqual(new Set(['tier', 'score']));
});

test('visitor reads: a path with dots reads every property that it may mean, including names that contain dots', () => {
  const reads = readsOf({
    mappings: [{ map: '{{visitor.custom_properties.a.b.c}}' }, { map: '{{visitor.utm.source}}' }],
  });
  expect(reads.isAll).toBe(false);
  expect(reads.custom).toEqual(new Set(['a', 'a.b.c']));
  expect([...reads.own]).toEqual(expect.arrayContaining(['utm', 'utm.source']));
});

test.each(['{{visitor}}', '{{ visitor.custom_properties }}', '$visitor.custom_properties', 'visitor'])(
  'visitor reads: %s reads the whole visitor',
  (text) => {
    expect(readsOf({ mappings: [{ mappings: [{ property: 'a', map: text }] }] }).isAll).toBe(true);
  },
);

test('visitor reads: paths in sealed settings count, and a setting that cannot be opened reads nothing', () => {
  const sealed = (id: string, text: string): string => box.seal(text, settingContext('account', id, 'headers'));
  const text = '{"X-Tier":"{{visitor.custom_properties.tier}}"}';
  const reads = readsOf({
    destinations: [
      { id: 'd', settings: { headers: sealed('d', text) } },
      { id: 'e', settings: { headers: sealed('of another', '{"X":"{{visitor.custom_properties.other}}"}') } },
    ],
  });
  expect(reads.custom).toEqual(new Set(['tier']));
});

test('visitor reads: a version that reads no visitor property has empty lists', () => {
  const reads = readsOf({ mappings: [{ logic: condition('event.event'), mappings: [{ map: 'visitors.email' }] }] });
  expect(reads).toEqual({ isAll: false, own: new Set(), custom: new Set() });
});
