import { GppModel } from '@iabgpp/cmpapi';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCookiebot, readDidomi, readOneTrust } from './consent-cookies.ts';
import { isUsPrivacyOptOut, readGppString, readSectionIds } from './gpp-string.ts';
import { readTcString } from './tc-string.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A string written by the IAB's library. */
function gppOf(sections: Readonly<Record<string, Fields>>): string {
  const model = new GppModel();
  for (const [section, fields] of Object.entries(sections)) {
    for (const [field, value] of Object.entries(fields)) model.setFieldValue(section, field, value);
  }
  return model.encode();
}

function tcOf(fields: Fields): string {
  const [, section = ''] = gppOf({ tcfeuv2: fields }).split('~');
  return section;
}

const bitsOf = (ids: readonly number[], length = 24): boolean[] =>
  Array.from({ length }, (_, index) => ids.includes(index + 1));
const everySection: ReadonlySet<number> = new Set();
const ids = fc.uniqueArray(fc.integer({ min: 1, max: 24 })).map((list) => list.toSorted((a, b) => a - b));
const vendors = fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 300 });

test('consent strings: property: a TC string written by the IAB library is read with its purposes and vendors', () => {
  fc.assert(
    fc.property(ids, vendors, ids, (purposes, vendorIds, publisher) => {
      const text = tcOf({
        PurposeConsents: bitsOf(purposes),
        VendorConsents: vendorIds.toSorted((a, b) => a - b),
        PublisherConsents: bitsOf(publisher),
      });
      const read = readTcString(text);
      expect([...read.purposes]).toEqual(purposes);
      expect([...read.vendors].toSorted((a, b) => a - b)).toEqual(vendorIds.toSorted((a, b) => a - b));
      expect([...(read.publisherPurposes ?? [])]).toEqual(publisher);
    }),
    { numRuns: 50 },
  );
});

test('consent strings: a published TC string has its purposes and vendors', () => {
  // From the specification's example of an encoded string.
  const { purposes, vendors: named } = readTcString(
    'COvFyGBOvFyGBAbAAAENAPCAAOAAAAAAAAAAAEEUACCKAAA.IFoEUQQgAIQwgIwQABAEAAAAOIAACAIAAAAQAIAgEAACEAAAAAgAQBAAAAAAAGBAAgAAAAAAAFAAECAAAgAAQARAEQAAAAAJAAIAAgAAAYQEAAAQmAgBC3ZAYzUw',
  );
  expect([...purposes]).toEqual([1, 2, 3]);
  expect([...named]).toEqual([2, 6, 8]);
});

test.each([
  [{ usnat: { SaleOptOut: 1 } }, ['saleOptOut'], false],
  [
    { usnat: { SharingOptOut: 1, TargetedAdvertisingOptOut: 1, SaleOptOut: 2 } },
    ['sharingOptOut', 'targetedAdvertisingOptOut'],
    false,
  ],
  [{ usnat: { Gpc: true } }, [], true],
  [{ usca: { SaleOptOut: 1, SharingOptOut: 2 } }, ['saleOptOut'], false],
  [{ usva: { TargetedAdvertisingOptOut: 1 } }, ['targetedAdvertisingOptOut'], false],
  [
    { usco: { SaleOptOut: 1, Gpc: true }, usct: { TargetedAdvertisingOptOut: 1 } },
    ['saleOptOut', 'targetedAdvertisingOptOut'],
    true,
  ],
  [{ uspv1: { OptOutSale: 'Y' } }, ['saleOptOut'], false],
  [{ usut: { SaleOptOut: 2, TargetedAdvertisingOptOut: 2 } }, [], false],
])('consent strings: the GPP string of %j says %j, GPC %s', (sections, optOuts, gpc) => {
  const read = readGppString(gppOf(sections), everySection);
  expect([[...read.optOuts], read.gpc]).toEqual([optOuts, gpc]);
});

test('consent strings: only the applicable sections of a GPP string count', () => {
  const text = gppOf({ usnat: { SaleOptOut: 1 }, usca: { SaleOptOut: 2 } });
  const saleIn = (applicable: unknown): boolean =>
    readGppString(text, readSectionIds(applicable)).optOuts.has('saleOptOut');
  expect([undefined, '', '7', '8', '7_8', [8], 7, '-1'].map(saleIn)).toEqual([
    true,
    true,
    true,
    false,
    true,
    false,
    true,
    true,
  ]);
});

test.each([
  ['1YYN', true],
  ['1YNN', false],
  ['1---', false],
  ['1yyn', true],
])('consent strings: the US Privacy string %s is an opt-out: %s', (text, isOptOut) => {
  expect(isUsPrivacyOptOut(text)).toBe(isOptOut);
});

test('consent strings: categories of OneTrust, Cookiebot and Didomi are allowed, denied or unknown', () => {
  const optanon =
    'isGpcEnabled=0&datestamp=Fri+Nov+27+2026&version=202309.1.0&groups=C0001%3A1%2CC0002%3A0%2CC0004%3A1&geolocation=AT%3B9';
  expect(['C0001', 'c0002', 'C0003'].map(readOneTrust(optanon))).toEqual([true, false, undefined]);
  // A page's list contains the active groups: missing groups are denied.
  expect(['C0001', 'c0002', 'C0003'].map(readOneTrust(',C0001,C0003,'))).toEqual([true, false, true]);
  const cookie =
    "{stamp:'x==',necessary:true,preferences:false,statistics:true,marketing:false,method:'explicit',ver:1,utc:1,region:'fr'}";
  for (const text of [cookie, encodeURIComponent(cookie)]) {
    const said = ['necessary', 'preferences', 'statistics', 'marketing', 'method'].map(readCookiebot(text));
    expect(said).toEqual([true, false, true, false, undefined]);
  }
  // The visitor is outside of the regions where Cookiebot asks, or has accepted nothing.
  expect(['necessary', 'marketing'].map(readCookiebot('-1'))).toEqual([undefined, undefined]);
  expect(['necessary', 'Preferences', 'statistics', 'marketing', 'method'].map(readCookiebot('0'))).toEqual([
    true,
    false,
    false,
    false,
    undefined,
  ]);
  const token = { purposes: { enabled: ['cookies', 'select_basic_ads'], disabled: ['measure'] }, vendors: {} };
  const didomi = readDidomi(Buffer.from(JSON.stringify(token)).toString('base64'));
  expect(['cookies', 'select_basic_ads', 'measure', 'other'].map(didomi)).toEqual([true, true, false, undefined]);
});

const readers = {
  readTcString,
  readGppString: (text: string) => readGppString(text, everySection),
  isUsPrivacyOptOut,
  readOneTrust,
  readCookiebot,
  readDidomi,
} as const;
const valid = [
  tcOf({ PurposeConsents: bitsOf([1, 3]), VendorConsents: [1, 28, 500] }),
  gppOf({ usnat: { SaleOptOut: 1, Gpc: true }, tcfeuv2: { PurposeConsents: bitsOf([1]) } }),
  '1YYN',
  'groups=C0001:1,C0002:0',
  '{necessary:true,marketing:false}',
  Buffer.from('{"purposes":{"enabled":["a"]}}').toString('base64'),
];
/** Valid texts with a change. */
const mutated = fc
  .record({ text: fc.constantFrom(...valid), at: fc.nat(200), cut: fc.nat(8), put: fc.string({ maxLength: 8 }) })
  .map(({ text, at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut));

test.each(Object.entries(readers))('consent strings: property: %s answers or refuses any text', (_name, read) => {
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string(), fc.base64String()), (text) => {
      try {
        read(text);
      } catch (error) {
        // A TypeError would show that the reader accesses a missing value.
        expect(error).not.toBeInstanceOf(TypeError);
      }
    }),
    { numRuns: 300 },
  );
});

test.each(Object.entries(readers))(
  'consent strings: %s refuses what is huge or nests deep without working on it',
  (_name, read) => {
    for (const text of ['D'.repeat(10_000_000), 'C'.repeat(10_000_000), '['.repeat(1_000_000), '{'.repeat(8_000)]) {
      expect(() => read(text)).toThrow(/./);
    }
  },
);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Bits as base64url, filled up with zeros. */
const textOf = (bits: string): string =>
  (bits.padEnd(Math.ceil(bits.length / 6) * 6, '0').match(/.{6}/g) ?? [])
    .map((six) => alphabet[Number.parseInt(six, 2)])
    .join('');
const numberBits = (value: number, length: number): string => value.toString(2).padStart(length, '0');

test('consent strings: a header that would list a billion sections is refused', () => {
  // Type 3, version 1, and one range: from 1, over a number of sections with 40 digits in Fibonacci coding.
  const header = textOf(`000011000001000000000001111${'0'.repeat(40)}11`);
  expect(() => readGppString(`${header}~BAAA`, everySection)).toThrow('too');
});

/** A GPP string whose header has these entries, with ids in Fibonacci coding, and whose sections are all `1YYN`. */
const gppOfCodes = (codes: readonly string[], sections: number, { type = 3, version = 1 } = {}): string => {
  const start = numberBits(type, 6) + numberBits(version, 6) + numberBits(codes.length, 12);
  return [textOf(start + codes.join('')), ...Array.from({ length: sections }, () => '1YYN')].join('~');
};

test('consent strings: a GPP string must be of version 1, with exactly one section for each id in its header', () => {
  // Section 6 is 1 + 5; the bit before it means that it is not a range.
  const us = '010011';
  expect([...readGppString(gppOfCodes([us], 1), everySection).optOuts]).toEqual(['saleOptOut']);
  expect(() => readGppString(gppOfCodes([us], 1, { version: 2 }), everySection)).toThrow('version 1');
  expect(() => readGppString(gppOfCodes([us], 1, { type: 2 }), everySection)).toThrow('version 1');
  expect(() => readGppString(gppOfCodes([us], 0), everySection)).toThrow('missing');
  expect(() => readGppString(gppOfCodes([us], 2), everySection)).toThrow('missing');
  expect(() => readGppString(gppOfCodes([], 0), everySection)).toThrow('missing');
  expect(() => readGppString(gppOfCodes([us], 1).slice(0, 4), everySection)).toThrow('too early');
});

/** A number in Fibonacci coding. */
function fibonacci(value: number): string {
  const numbers = [1, 2];
  while ((numbers.at(-1) ?? 0) < value) numbers.push((numbers.at(-1) ?? 0) + (numbers.at(-2) ?? 0));
  let left = value;
  const bits = numbers.toReversed().map((one) => {
    const isSet = one <= left;
    if (isSet) left -= one;
    return isSet ? '1' : '0';
  });
  return `${bits.toReversed().join('').replace(/0+$/, '')}1`;
}

test('consent strings: a GPP string has at most 8,192 characters', () => {
  // Sections 2 and 6; the first one is long, and does not apply.
  const start = gppOfCodes([`0${fibonacci(2)}`, `0${fibonacci(4)}`], 1);
  const read = (characters: number) => () => readGppString(`${start.padEnd(characters - 5, 'A')}~1YYN`, new Set([6]));
  expect([...read(8_192)().optOuts]).toEqual(['saleOptOut']);
  expect(read(8_193)).toThrow('too long');
});

test('consent strings: a GPP string with more than 64 sections, or an id above 1,000, is refused', () => {
  const read = (codes: readonly string[], sections: number) => () =>
    readGppString(gppOfCodes(codes, sections), everySection);
  const rangeFrom = (first: number, count: number): string => `1${fibonacci(first)}${fibonacci(count - 1)}`;
  // An unknown section is refused after its id was read.
  expect(read([rangeFrom(100, 64)], 64)).toThrow('not known');
  expect(read([rangeFrom(100, 65)], 65)).toThrow('too many');
  expect(read([`0${fibonacci(99)}`, rangeFrom(1, 64)], 65)).toThrow('too many');
  expect(read([`0${fibonacci(1_000)}`], 1)).toThrow('not known');
  expect(read([`0${fibonacci(1_001)}`], 1)).toThrow('too many');
  expect([...read([`0${fibonacci(3)}`], 1)().optOuts]).toEqual([]);
});

type Vendors = { readonly idMax: number; readonly bits: string };

/** A TC string by the layout of the specification: its first 213 bits with a version and the purposes, then vendors. */
const tcOfVendors = ({ idMax, bits }: Vendors, version = 2): string =>
  textOf(numberBits(version, 6).padEnd(152, '0') + '1'.padEnd(61, '0') + numberBits(idMax, 16) + bits);
const single = (id: number): string => `0${numberBits(id, 16)}`;
const range = (from: number, to: number): string => `1${numberBits(from, 16)}${numberBits(to, 16)}`;
const entries = (...list: readonly string[]): string => `1${numberBits(list.length, 12)}${list.join('')}`;

test.each<[string, Vendors, readonly number[] | string]>([
  ['a bit for each', { idMax: 3, bits: '0101' }, [1, 3]],
  ['a bit for each, and something after them', { idMax: 3, bits: '01011' }, [1, 3]],
  ['none', { idMax: 0, bits: '0' }, []],
  ['single ones and ranges', { idMax: 9, bits: entries(single(2), range(4, 6), single(9)) }, [2, 4, 5, 6, 9]],
  ['a range of one', { idMax: 4, bits: entries(range(4, 4)) }, [4]],
  ['no entry', { idMax: 4, bits: entries() }, []],
  ['one that is listed twice', { idMax: 9, bits: entries(single(2), single(2)) }, 'overlap'],
  ['ranges that overlap', { idMax: 9, bits: entries(range(1, 4), range(4, 6)) }, 'overlap'],
  ['vendor 0', { idMax: 9, bits: entries(single(0)) }, 'overlap'],
  ['one beyond the last', { idMax: 9, bits: entries(range(8, 10)) }, 'exceed the highest id'],
  ['a list that ends early', { idMax: 9, bits: '1' + numberBits(3, 12) + single(1) }, 'too early'],
])('consent strings: vendors of a TC string: %s', (_what, given, expected) => {
  const read = () => readTcString(tcOfVendors(given));
  if (typeof expected === 'string') expect(read).toThrow(expected);
  else expect([...read().vendors]).toEqual(expected);
});

test('consent strings: a TC string must have version 2, at most 8,192 characters, and only characters of base64url', () => {
  const text = tcOfVendors({ idMax: 0, bits: '0' });
  expect([...readTcString(text).purposes]).toEqual([1]);
  expect(readTcString(text).publisherPurposes).toBeUndefined();
  expect(() => readTcString(tcOfVendors({ idMax: 0, bits: '0' }, 1))).toThrow('version 2');
  expect(() => readTcString('')).toThrow('too early');
  expect(() => readTcString(`${text}=`)).toThrow('base64url');
  expect([...readTcString(text.padEnd(8_192, 'A')).purposes]).toEqual([1]);
  expect(() => readTcString(text.padEnd(8_193, 'A'))).toThrow('too long');
});

test('consent strings: the publisher segment of a TC string is found before or after another segment', () => {
  const text = tcOfVendors({ idMax: 0, bits: '0' });
  const [other, publisher] = [textOf(`001${'1'.repeat(24)}`), textOf(`011${'01'.repeat(12)}`)];
  const even = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24];
  for (const segments of [`${other}.${publisher}`, `${publisher}.${other}`])
    expect([...(readTcString(`${text}.${segments}`).publisherPurposes ?? [])]).toEqual(even);
  expect(readTcString(`${text}.${other}`).publisherPurposes).toBeUndefined();
});

test.each(['2YYN', '1YYNN', '1YY', 'x1YYN', '1YXN', ''])('consent strings: %j is no US Privacy string', (text) => {
  expect(() => isUsPrivacyOptOut(text)).toThrow('not a US Privacy string');
});

test.each<[unknown, readonly number[] | string]>([
  [7, [7]],
  [
    [7, 8],
    [7, 8],
  ],
  ['7_8', [7, 8]],
  ['7, 8', [7, 8]],
  [[null, undefined, -1, 0, 6], [6]],
  ['', []],
  [undefined, []],
  [null, []],
  ['7_x', 'not ids'],
  [[1.5], 'not ids'],
])('consent strings: the sections %j are read as ids: %j', (given, expected) => {
  if (typeof expected === 'string') expect(() => readSectionIds(given)).toThrow(expected);
  else expect([...readSectionIds(given)]).toEqual(expected);
});

const base64 = (token: unknown): string => Buffer.from(JSON.stringify(token)).toString('base64');

test.each<[string, () => unknown]>([
  ['OneTrust that is no text', () => readOneTrust(7)],
  ['OneTrust that is too long', () => readOneTrust(`groups=${'x'.repeat(8_192)}:1`)],
  ['OneTrust without groups', () => readOneTrust('a=b')],
  ['OneTrust with a word that is none', () => readOneTrust('groups=C1:2')],
  ['OneTrust with something after a group', () => readOneTrust('groups=C1:1x')],
  ['OneTrust with an empty group', () => readOneTrust('groups=,C1:1')],
  ['OneTrust with something before a group', () => readOneTrust('groups=x C1:1')],
  ['OneTrust with more than it may have', () => readOneTrust('groups=C1:1&x='.padEnd(8_193, 'y'))],
  ["OneTrust's active groups, none of them", () => readOneTrust(',,')],
  ["OneTrust's active groups with a space in one", () => readOneTrust(',C1,C 2,')],
  ["OneTrust's active groups with a long one", () => readOneTrust(`,${'x'.repeat(65)},`)],
  ['Cookiebot without braces', () => readCookiebot('marketing:true')],
  ['Cookiebot without a category', () => readCookiebot('{stamp:1}')],
  ['Cookiebot with a broken escape', () => readCookiebot('{marketing:true}%')],
  ['Didomi that is no JSON', () => readDidomi('AAAA')],
  ['Didomi without purposes', () => readDidomi(base64({}))],
  ['Didomi that is a list', () => readDidomi(base64([]))],
  ['Didomi whose purposes are a list', () => readDidomi(base64({ purposes: [] }))],
])('consent strings: %s is refused', (_what, read) => {
  expect(read).toThrow(new RangeError('not the cookie of a consent platform'));
});

test('consent strings: a category that is both allowed and denied is denied, in either order', () => {
  for (const text of ['groups=C1:1,c1:0', 'groups=C1:0,c1:1']) expect(readOneTrust(text)('C1')).toBe(false);
  const both = readDidomi(base64({ purposes: { enabled: ['A', 7], disabled: ['a', null] } }));
  expect([both('a'), both('7')]).toEqual([false, undefined]);
  const listless = readDidomi(base64({ purposes: { enabled: 'all' } }));
  expect(['all', 's'].map(listless)).toEqual([undefined, undefined]);
  expect(readOneTrust('groups=C1:1&x='.padEnd(8_192, 'y'))('c1')).toBe(true);
  expect(readOneTrust(`,${'x'.repeat(64)},`)('X'.repeat(64))).toBe(true);
});
