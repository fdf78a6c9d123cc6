import { GppModel } from '@iabgpp/cmpapi';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCookiebot, readDidomi, readOneTrust } from './consent-cookies.ts';
import { isUsPrivacyOptOut, readGppString, readSectionIds } from './gpp-string.ts';
import { readTcString } from './tc-string.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A string as the library of the IAB writes it. */
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

test('consent strings: property: a TC string is read as the library of the IAB wrote it', () => {
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
  // Of the specification's own example of an encoded string.
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

test('consent strings: of a GPP string only the sections that apply count', () => {
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
])('consent strings: the US Privacy string %s', (text, isOptOut) => {
  expect(isUsPrivacyOptOut(text)).toBe(isOptOut);
});

test('consent strings: OneTrust, Cookiebot and Didomi', () => {
  const optanon =
    'isGpcEnabled=0&datestamp=Fri+Nov+27+2026&version=202309.1.0&groups=C0001%3A1%2CC0002%3A0%2CC0004%3A1&geolocation=AT%3B9';
  expect(['C0001', 'c0002', 'C0003'].map(readOneTrust(optanon))).toEqual([true, false, undefined]);
  // The list of a page has the active groups: what is missing was not allowed.
  expect(['C0001', 'c0002', 'C0003'].map(readOneTrust(',C0001,C0003,'))).toEqual([true, false, true]);
  const cookie =
    "{stamp:'x==',necessary:true,preferences:false,statistics:true,marketing:false,method:'explicit',ver:1,utc:1,region:'fr'}";
  for (const text of [cookie, encodeURIComponent(cookie)]) {
    const said = ['necessary', 'preferences', 'statistics', 'marketing', 'method'].map(readCookiebot(text));
    expect(said).toEqual([true, false, true, false, undefined]);
  }
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
/** Texts that were right once. */
const mutated = fc
  .record({ text: fc.constantFrom(...valid), at: fc.nat(200), cut: fc.nat(8), put: fc.string({ maxLength: 8 }) })
  .map(({ text, at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut));

test.each(Object.entries(readers))(
  'consent strings: property: %s answers or throws an error, whatever the text',
  (_name, read) => {
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string(), fc.base64String()), (text) => {
        try {
          read(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 300 },
    );
  },
);

test.each(Object.entries(readers))(
  'consent strings: %s refuses what is huge or nests deep without working on it',
  (_name, read) => {
    for (const text of ['D'.repeat(10_000_000), 'C'.repeat(10_000_000), '['.repeat(1_000_000), '{'.repeat(8_000)]) {
      expect(() => read(text)).toThrow(/./);
    }
  },
);

test('consent strings: a header that would list a billion sections is refused', () => {
  // Type 3, version 1, one range, from 1 over a number of 40 digits in Fibonacci coding.
  const bits = `000011000001000000000001111${'0'.repeat(40)}11`;
  const padded = bits.padEnd(Math.ceil(bits.length / 6) * 6, '0');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const header = (padded.match(/.{6}/g) ?? []).map((six) => alphabet[Number.parseInt(six, 2)]).join('');
  expect(() => readGppString(`${header}~BAAA`, everySection)).toThrow('too');
});
