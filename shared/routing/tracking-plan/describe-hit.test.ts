import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Hit } from './compile-tracking-plan.ts';
import { describeHit, maskValue } from './describe-hit.ts';
import { anyText } from '../../testing/any-text.ts';

const hit = (own: Partial<Hit>): Hit => ({
  rule: 'r',
  action: 'Report',
  severity: 'Warning',
  property: 'event_properties.ssn',
  places: [],
  ...own,
});

const placesOf = (values: Readonly<Record<string, unknown>>): Hit['places'] =>
  Object.entries(values).map(([name, value]) => ({ holder: {}, name, value }));

test('sample of a violation: names the property and the shape of its value, and contains nothing of the value', () => {
  expect(describeHit(hit({}))).toBe('event_properties.ssn is missing');
  expect(describeHit(hit({ property: undefined }))).toBe('');
  expect(describeHit(hit({ places: placesOf({ ssn: '078-05-1120' }) }))).toBe('event_properties.ssn: 999-99-9999');
  const unknown = placesOf({ a: 'Ann Müller', b: 12.5, c: [1], d: null, e: {} });
  expect(describeHit(hit({ property: undefined, places: unknown }))).toBe(
    'event_properties.a: Aaa Aaaaaa, event_properties.b: 99.9, event_properties.c: a list of 1, 2 more',
  );
  expect(['ann@example.com', '', true, null, {}].map(maskValue)).toEqual([
    'aaa@aaaaaaa.aaa',
    'an empty text',
    'true or false',
    'null',
    'an object',
  ]);
});

test('sample of a violation: lists are summarized, and long texts and long runs of letters are truncated', () => {
  expect([[1], [], [1, 2], undefined].map(maskValue)).toEqual(['a list of 1', 'a list of 0', 'a list of 2', 'nothing']);
  expect(maskValue('1'.repeat(40))).toBe('9'.repeat(40));
  expect(maskValue('1'.repeat(41))).toBe(`${'9'.repeat(39)}…`);
  expect(maskValue('abcdefgh 1')).toBe('aaaaaaaa 9');
  expect(maskValue('abcdefghi 1')).toBe('aaaaaaaa… 9');
  const three = placesOf({ a: 1, b: 1, c: 1 });
  expect(describeHit(hit({ property: undefined, places: three }))).not.toContain('more');
});

test('sample of a violation: contains no letter or digit of the text, and at most 200 characters', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      const masked = maskValue(`x${text}`);
      expect(masked).not.toMatch(/[b-zB-Z0-8\u007f-\u2025\u2027-\u{10ffff}]/u);
      expect(describeHit(hit({ places: placesOf({ p: `x${text}` }) })).length).toBeLessThanOrEqual(200);
    }),
  );
});
