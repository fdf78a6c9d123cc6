import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../runtime/json.ts';
import { boundedTimes, decodeTimes, encodeTimes } from './property-times.ts';
import { VisitorProperties } from './visitor-properties.ts';

/**
 * A write of one property or member: each has a time of its own, and a value of its own or a clear. A repeated value or
 * clear is not a write.
 */
type Write = { readonly atMs: number; readonly given: JsonObject };

const paths = [
  'city',
  'zip',
  '__proto__',
  'custom_properties:a',
  'custom_properties:city',
  'consent:ads',
  'consent:mail',
];
const writes: fc.Arbitrary<readonly Write[]> = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(...paths, 'consent')), {
      selector: ([atMs]) => atMs,
      minLength: 1,
      maxLength: 14,
    }),
    fc.subarray(['city', 'zip', '__proto__', 'consent']),
  )
  .map(([all, cleared]) => {
    const left = new Set(cleared);
    return all.map(([atMs, path]): Write => {
      const [name = '', member] = path.split(':');
      const value = left.delete(path) ? null : `v${atMs}`;
      return { atMs, given: Object.fromEntries([[name, member === undefined ? value : { [member]: value }]]) };
    });
  });

const apply = (all: readonly Write[], start = VisitorProperties.none): VisitorProperties =>
  all.reduce((properties, { given, atMs }) => properties.with(given, atMs), start);

const stateOf = (properties: VisitorProperties) => ({
  value: Object.fromEntries(Object.entries(properties.value)),
  times: Object.fromEntries(properties.times),
});

test('property times: any order of delivery, each any number of times, converges to the same profile', () => {
  fc.assert(
    fc.property(
      writes.chain((all) =>
        fc.tuple(
          fc.constant(all),
          fc.shuffledSubarray([...all], { minLength: all.length }),
          fc.shuffledSubarray([...all]),
        ),
      ),
      ([all, shuffled, again]) => {
        const inOrder = apply(all.toSorted((a, b) => a.atMs - b.atMs));
        expect(stateOf(apply([...shuffled, ...again]))).toEqual(stateOf(inOrder));
      },
    ),
  );
});

test('property times: merged visitors have the profile that one visitor with all their events would have, whichever is merged into the other', () => {
  fc.assert(
    fc.property(writes, fc.array(fc.boolean()), (all, toFirst) => {
      const first = apply(all.filter((_, index) => toFirst[index] === true));
      const second = apply(all.filter((_, index) => toFirst[index] !== true));
      const one = stateOf(apply(all.toSorted((a, b) => a.atMs - b.atMs)));
      expect(stateOf(first.mergedWith(second)).value).toEqual(one.value);
      expect(stateOf(second.mergedWith(first)).value).toEqual(one.value);
      expect(stateOf(first.mergedWith(second).mergedWith(second)).value).toEqual(one.value);
    }),
  );
});

/** The consent by lower-case name; one member must be left for each purpose. */
function purposesOf({ value }: VisitorProperties): Record<string, unknown> {
  const members = Object.entries((value['consent'] ?? {}) as JsonObject);
  const purposes = Object.fromEntries(members.map(([name, word]) => [name.trim().toLowerCase(), word]));
  expect(Object.keys(purposes).length).toBe(members.length);
  return purposes;
}

const spelled: fc.Arbitrary<readonly Write[]> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom('Ads', 'ads', ' ADS', 'Mail', 'mail')), {
    selector: ([atMs]) => atMs,
    minLength: 1,
  })
  .map((all) => all.map(([atMs, name]) => ({ atMs, given: { consent: { [name]: `v${atMs}` } } })));

test('property times: the last write of a purpose wins in any spelling and order of delivery, also after a merge', () => {
  fc.assert(
    fc.property(
      spelled.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length }))),
      fc.array(fc.boolean()),
      ([all, shuffled], toFirst) => {
        const expected: Record<string, unknown> = {};
        for (const { given } of all.toSorted((a, b) => a.atMs - b.atMs))
          for (const [name, word] of Object.entries(given['consent'] as JsonObject))
            expected[name.trim().toLowerCase()] = word;
        expect(purposesOf(apply(shuffled))).toEqual(expected);
        const first = apply(shuffled.filter((_, index) => toFirst[index] === true));
        const second = apply(shuffled.filter((_, index) => toFirst[index] !== true));
        expect(purposesOf(first.mergedWith(second))).toEqual(expected);
        expect(purposesOf(second.mergedWith(first))).toEqual(expected);
      },
    ),
  );
});

test('property times: of a purpose that an earlier build stored in two spellings the next consent leaves the newer one', () => {
  const stored = (advertising: number, capital: number) =>
    new VisitorProperties(
      { consent: { advertising: false, Advertising: true } },
      undefined,
      new Map([
        ['2advertising', advertising],
        ['2Advertising', capital],
      ]),
    );
  const consentOf = (properties: VisitorProperties, given: JsonObject, atMs: number): unknown =>
    properties.with({ consent: given }, atMs).value['consent'];
  expect(consentOf(stored(1, 2), { mail: true }, 3)).toEqual({ Advertising: true, mail: true });
  expect(consentOf(stored(2, 1), { mail: true }, 3)).toEqual({ advertising: false, mail: true });
  expect(consentOf(stored(2, 1), { Advertising: true }, 3)).toEqual({ advertising: true });
  expect(consentOf(stored(2, 1), { ADVERTISING: true }, 1)).toEqual({ advertising: false });
  // At equal times, and without times, a denial wins.
  expect(consentOf(stored(0, 0), { mail: true }, 3)).toEqual({ advertising: false, mail: true });
});

test('property times: stored times are read back unchanged', () => {
  fc.assert(
    fc.property(writes, (all) => {
      const { value, times, timesText } = apply(all);
      expect(Object.fromEntries(decodeTimes(timesText ?? undefined, value))).toEqual(Object.fromEntries(times));
      // A visitor read from its stored form behaves like the one in memory.
      const read = new VisitorProperties(value, undefined, timesText ?? undefined);
      const late = { atMs: 20, given: { city: 'late', custom_properties: { a: 'late' }, consent: { ads: 'late' } } };
      expect(stateOf(apply([late], read))).toEqual(stateOf(apply([late], apply(all))));
    }),
  );
});

test('property times: a repeated value is not written, and a value without a time counts as the oldest', () => {
  const known = VisitorProperties.none.with({ city: 'Oslo', custom_properties: { a: 1 } }, 5);
  expect(known.with({ city: 'Oslo', custom_properties: { a: 1, b: null }, zip: '' }, 9)).toBe(known);
  expect(known.with({ city: 'Rome' }, 4)).toBe(known);
  const old = new VisitorProperties({ city: 'Oslo' });
  expect(old.with({ city: 'Rome' }, 1).value).toEqual({ city: 'Rome' });
  // At equal times the write that is applied later wins: rows of one batch have the same time of receipt.
  expect(known.with({ city: 'Rome' }, 5).value['city']).toBe('Rome');
});

test('property times: the times that one event gives a visitor take 15 bytes, and the times of a hostile visitor are bounded', () => {
  const { timesText } = VisitorProperties.none.with(
    { email: 'a@b.c', city: 'Oslo', custom_properties: { plan: 'pro', seats: 4 }, consent: { ads: true } },
    1_764_230_400_123,
  );
  expect(timesText).toBe('[1764230400123]');
  let hostile = VisitorProperties.none;
  for (let n = 1; n <= 900; n += 1) {
    hostile = hostile.with({ [`gone-${n}`]: null, custom_properties: { [`k${n}`]: n } }, 1_764_230_400_000 + n);
  }
  hostile = hostile.with({ [`gone-${'x'.repeat(5_000)}`]: null }, 1_764_230_500_000);
  expect(hostile.times.size).toBe(900 + 64);
  expect(Buffer.byteLength(hostile.timesText ?? '')).toBeLessThan(24 * 1024);
  // The newest properties keep their times, and older writes do not overwrite the others.
  expect(hostile.with({ custom_properties: { k900: 'late' } }, 1_764_230_400_899)).toBe(hostile);
  expect(hostile.with({ custom_properties: { k1: 'late' } }, 1_764_230_400_000)).toBe(hostile);
  expect(boundedTimes(hostile.times, hostile.value)).toEqual(hostile.times);
  expect(encodeTimes(new Map(), { city: 'Oslo' })).toBeUndefined();
});
