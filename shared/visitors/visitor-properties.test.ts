import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../runtime/json.ts';
import { applyTimed } from './apply-properties.ts';
import { noTimes } from './property-times.ts';
import { VisitorProperties } from './visitor-properties.ts';

const applyProperties = (current: JsonObject, given: JsonObject): JsonObject =>
  applyTimed({ value: current, times: noTimes }, given, { atMs: 0 }).value;

const rows: readonly [name: string, current: JsonObject, given: JsonObject, expected: JsonObject][] = [
  ['a value sets', {}, { city: 'Oslo' }, { city: 'Oslo' }],
  ['a value replaces', { city: 'Oslo' }, { city: 'Rome' }, { city: 'Rome' }],
  ['null clears', { city: 'Oslo', zip: '1' }, { city: null }, { zip: '1' }],
  ['null for what is not there does nothing', { zip: '1' }, { city: null }, { zip: '1' }],
  ['an empty string is ignored', { city: 'Oslo' }, { city: '' }, { city: 'Oslo' }],
  ['undefined is ignored', { city: 'Oslo' }, { city: undefined }, { city: 'Oslo' }],
  ['absent is ignored', { city: 'Oslo' }, { zip: '2' }, { city: 'Oslo', zip: '2' }],
  ['false and 0 are values', { a: true, b: 1 }, { a: false, b: 0 }, { a: false, b: 0 }],
  ['an object replaces at the top level', { address: { a: 1 } }, { address: { b: 2 } }, { address: { b: 2 } }],
  [
    'custom_properties merge',
    { custom_properties: { a: 1 } },
    { custom_properties: { b: 2 } },
    { custom_properties: { a: 1, b: 2 } },
  ],
  [
    'a custom value replaces',
    { custom_properties: { a: 1 } },
    { custom_properties: { a: 2 } },
    { custom_properties: { a: 2 } },
  ],
  [
    'inside custom_properties null, undefined and empty are ignored',
    { custom_properties: { a: 1, b: 2, c: 3 } },
    { custom_properties: { a: null, b: '', c: undefined } },
    { custom_properties: { a: 1, b: 2, c: 3 } },
  ],
  [
    'custom_properties that are null change nothing',
    { custom_properties: { a: 1 } },
    { custom_properties: null },
    { custom_properties: { a: 1 } },
  ],
  [
    'a custom object replaces as a whole',
    { custom_properties: { a: { x: 1 } } },
    { custom_properties: { a: { y: 2 } } },
    { custom_properties: { a: { y: 2 } } },
  ],
  [
    'consent merges',
    { consent: { ads: true } },
    { consent: { ads: null, mail: false } },
    { consent: { ads: true, mail: false } },
  ],
  [
    'a purpose in another spelling replaces the purpose, and another name of its kind is another property',
    { consent: { advertising: false }, custom_properties: { plan: 1 } },
    { consent: { ' Advertising': true }, custom_properties: { Plan: 2 } },
    { consent: { advertising: true }, custom_properties: { plan: 1, Plan: 2 } },
  ],
  [
    'a purpose that one consent has twice is denied if either is',
    {},
    { consent: { Ads: true, ads: 'Denied', mail: false, Mail: true } },
    { consent: { Ads: 'Denied', mail: false } },
  ],
  ['a consent that is a text is a property like any other', { consent: 'yes' }, { consent: 'no' }, { consent: 'no' }],
  ['an empty custom_properties adds nothing', {}, { custom_properties: {} }, {}],
];

describe('applyProperties', () => {
  test.each(rows)('applyProperties: %s', (_name, current, given, expected) => {
    const before = structuredClone(current);
    const next = applyProperties(current, given);
    expect(next).toEqual(expected);
    expect(current).toEqual(before);
    expect(next === current).toBe(JSON.stringify(next) === JSON.stringify(current));
  });

  const scalar = fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(''));
  const names = fc.constantFrom('city', 'zip', 'consent', 'custom_properties', '__proto__', 'constructor');
  const nested = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), scalar, { maxKeys: 3 });
  const properties = fc
    .array(fc.tuple(names, fc.oneof(scalar, nested)), { maxLength: 6 })
    .map((entries): JsonObject => Object.fromEntries(entries));

  test('applyProperties: giving the same again changes nothing', () => {
    fc.assert(
      fc.property(properties, properties, (start, given) => {
        const current = applyProperties({}, start);
        const once = applyProperties(current, given);
        expect(applyProperties(once, given)).toBe(once);
      }),
    );
  });

  test('applyProperties: stores no null and no empty string, at the top level or in custom_properties', () => {
    fc.assert(
      fc.property(fc.array(properties, { maxLength: 5 }), (all) => {
        const result = all.reduce<JsonObject>(applyProperties, {});
        const custom = (result['custom_properties'] ?? {}) as JsonObject;
        for (const value of [...Object.values(result), ...Object.values(custom)]) {
          expect(value).not.toBeNull();
          expect(value).not.toBe('');
        }
        expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      }),
    );
  });

  test('applyProperties: a custom property once set is never lost', () => {
    fc.assert(
      fc.property(fc.array(properties, { minLength: 1, maxLength: 6 }), (all) => {
        let current: JsonObject = {};
        let held = new Set<string>();
        for (const given of all) {
          current = applyProperties(current, given);
          const now = new Set(Object.keys(current['custom_properties'] ?? {}));
          for (const name of held) expect(now.has(name)).toBe(true);
          held = now;
        }
      }),
    );
  });
});

test('merged properties: the value written later wins; custom properties are merged one by one', () => {
  const earlier = { city: 'Oslo', zip: '1', custom_properties: { a: 1, b: 1 }, consent: { ads: true } };
  const later = { city: 'Rome', custom_properties: { b: 2, c: 2 }, consent: { mail: true } };
  expect(new VisitorProperties(earlier).mergedWith(new VisitorProperties(later)).value).toEqual({
    city: 'Rome',
    zip: '1',
    custom_properties: { a: 1, b: 2, c: 2 },
    consent: { ads: true, mail: true },
  });
});

test('visitor properties: the visitor’s part of a line is built once for each id', () => {
  const properties = new VisitorProperties({ city: 'Oslo' });
  const make = (id: string) => ({ id, before: '', behind: properties.text, bytes: 0, characters: 0 });
  const first = properties.lineOf('a', make);
  expect(properties.lineOf('a', make)).toBe(first);
  expect(properties.lineOf('b', make)).toMatchObject({ id: 'b' });
});

test('visitor properties: nestDeeperThan is right for any number of levels, in any order of calls', () => {
  const properties = new VisitorProperties({ a: { b: [1] } });
  for (const levels of [3, 2, 3, 4, 1]) expect(properties.nestDeeperThan(levels)).toBe(levels < 3);
});
