import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ModificationName } from './modifications.ts';
import {
  camelCase,
  compileModification,
  kebabCase,
  modificationNames,
  modifications,
  snakeCase,
  startCase,
} from './modifications.ts';
import { PlanError } from '../values/plan-error.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

const digest = sha256('ada@example.com');
const url = 'https://ada:secret@shop.example.com:8443/a/b?utm_source=mail&email=ada%40x.org&UTM_Medium=cpc#top';

/**
 * Values with their results without a salt; undefined means that the value is left out. The table has every
 * modification.
 */
const rows: Readonly<
  Record<Exclude<ModificationName, 'Encrypted'>, readonly (readonly [value: unknown, changed: unknown])[]>
> = {
  None: [
    ['a', 'a'],
    [5, 5],
    [
      [1, { a: 2 }],
      [1, { a: 2 }],
    ],
    [null, null],
    [undefined, undefined],
  ],
  Null: [
    ['a', null],
    [[1], null],
    [undefined, null],
  ],
  Redacted: [
    ['a', 'REDACTED'],
    [0, 'REDACTED'],
    [{ a: 1 }, 'REDACTED'],
    [['a', 'b'], 'REDACTED'],
    [null, null],
    [undefined, undefined],
  ],
  Hash: [
    ['Ada ', sha256('Ada ')],
    [5, sha256('5')],
    [true, sha256('true')],
    [
      ['a', 'b'],
      [sha256('a'), sha256('b')],
    ],
    [digest, sha256(digest)],
    ['', undefined],
    [{ a: 1 }, undefined],
    [null, null],
    [undefined, undefined],
  ],
  HashMD5: [
    ['hello', '5d41402abc4b2a76b9719d911017c592'],
    [5, md5('5')],
    ['', undefined],
    [{}, undefined],
    [null, null],
  ],
  HashedNormalized: [
    // Meta's published example.
    [' John_Smith@gmail.com ', '62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f'],
    ['Mary', '6915771be1c5aa0c886870b6951b03d7eafc121fea0e80a5ea83beb7c449f4ec'],
    ['Valéry', '08e1996b5dd49e62a4b4c010d44e4345592a863bb9f8e3976219bac29417149c'],
    ['정', '8fa8cd9c440be61d0151429310034083132b35975c4bea67fdd74158eb51db14'],
    [digest, digest],
    [` ${digest.toUpperCase()} `, digest],
    // Longer than a digest.
    [`a${digest}`, sha256(`a${digest}`)],
    [`${digest}a`, sha256(`${digest}a`)],
    ['   ', undefined],
    [{}, undefined],
    [undefined, undefined],
  ],
  HashedNormalizedNoSpecialChars: [
    ['New York', '350c754ba4d38897693aa077ef43072a859d23f613443133fecbbd90a3512ca5'],
    [" O'Brien-Smith ", sha256('obriensmith')],
    ['São Paulo', sha256('sãopaulo')],
    [digest, digest],
    ['--', undefined],
    [null, null],
  ],
  HashedPhone: [
    // Meta's published example.
    ['(650)555-1212', 'e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176'],
    [6505551212, 'e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176'],
    [['+1 650 555 1212', 'none'], ['e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176']],
    ['none', undefined],
    [{}, undefined],
    [digest, digest],
  ],
  HashedCountry: [
    ['US', '79adb2a2fce5c6ba215fe5f27f532d4e7edbac4b6a5e09e1ef3a08084a904621'],
    ['United States', sha256('us')],
    ['Nowhere', undefined],
    [5, undefined],
    [null, null],
  ],
  HashedState: [
    ['Arizona', sha256('az')],
    ['az', sha256('az')],
    ['Île-de-France', sha256('îledefrance')],
    ['', undefined],
    [[], []],
  ],
  HashedZip: [
    ['94035-1234', sha256('94035')],
    [94035, sha256('94035')],
    ['', undefined],
    [{}, undefined],
  ],
  HashedGender: [
    ['Female', '252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111'],
    ['M', sha256('m')],
    ['x', undefined],
    [true, undefined],
  ],
  HashedDateOfBirth: [
    // Meta's published example.
    ['2/16/1997', '01acdbf6ec7b4f478a225f1a246e5d6767eeab1a7ffa17f025265b5b94f40f0c'],
    ['1997-02-16', sha256('19970216')],
    ['unknown', undefined],
    [null, null],
  ],
  FullUrl: [
    [url, url],
    ['/relative', '/relative'],
    [{ href: url }, undefined],
    [undefined, undefined],
  ],
  DomainOnly: [
    [url, 'https://shop.example.com:8443'],
    ['example.com/path', 'example.com'],
    ['not a url', undefined],
    [5, undefined],
    [[url], ['https://shop.example.com:8443']],
  ],
  DomainPathOnly: [
    [url, 'https://shop.example.com:8443/a/b'],
    ['https://example.com', 'https://example.com/'],
    ['', undefined],
  ],
  DomainPathUTMs: [
    [url, 'https://shop.example.com:8443/a/b?utm_source=mail&UTM_Medium=cpc'],
    ['https://example.com/?q=1', 'https://example.com/'],
    [null, null],
  ],
  DomainUTMs: [
    [url, 'https://shop.example.com:8443/?utm_source=mail&UTM_Medium=cpc'],
    ['https://example.com/a?q=1', 'https://example.com'],
    ['/a?utm_source=x', undefined],
  ],
  FakeDomain: [
    [url, `https://site-${sha256('shop.example.com:8443').slice(0, 12)}.example.com`],
    ['mailto:ada@example.com', undefined],
    [{}, undefined],
  ],
  FakeDomainRealPath: [
    [url, `https://site-${sha256('shop.example.com:8443').slice(0, 12)}.example.com/a/b`],
    ['ada@example.com', undefined],
    [undefined, undefined],
  ],
  FakeIP: [
    ['203.0.113.7', '198.18.197.37'],
    ['::ffff:203.0.113.7', '198.18.197.37'],
    ['unknown', undefined],
    [5, undefined],
  ],
  RegionalIP: [
    ['203.0.113.7', '203.0.113.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['203.0.113.7, 10.0.0.1', undefined],
    [null, null],
  ],
  DmaIP: [
    ['203.0.113.7', '203.0.0.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8::'],
    ['1', undefined],
    [{}, undefined],
  ],
  CamelCase: [
    ['Sign Up: free-trial', 'signUpFreeTrial'],
    [5, 5],
    [{ a: 'B c' }, { a: 'B c' }],
    [
      ['a b', 7],
      ['aB', 7],
    ],
    [undefined, undefined],
  ],
  KebabCase: [
    ['orderCompleted', 'order-completed'],
    [null, null],
    [true, true],
  ],
  SnakeCase: [
    ['Order Completed', 'order_completed'],
    ['', ''],
    [1.5, 1.5],
  ],
  StartCase: [
    ['order_completed', 'Order Completed'],
    [[], []],
    [undefined, undefined],
  ],
  LowerCase: [
    ['ÀB', 'àb'],
    [5, 5],
    [null, null],
  ],
  UpperCase: [
    ['straße', 'STRASSE'],
    [false, false],
    [undefined, undefined],
  ],
};

describe.each(Object.entries(rows))('%s', (name, cases) => {
  test.each(cases)(`${name}: of %j makes %j`, (value, changed) => {
    expect(compileModification(name, '', 'modification')(value)).toEqual(changed);
  });
});

test('modifications: there are the 29 of the contract and Encrypted, each with a summary', () => {
  expect(modificationNames).toHaveLength(30);
  for (const name of modificationNames) expect(modifications[name].summary).toMatch(/\.$/);
});

test.each([null, undefined])('modifications: %s counts as the modification None', (name) => {
  expect(compileModification(name, '', 'modification')('a')).toBe('a');
});

test.each(['Nonsense', 'toString', '', 5, {}])('modifications: %j is refused with the name of its field', (name) => {
  expect(() => compileModification(name, '', 'mappings[0].modification')).toThrow(PlanError);
  expect(() => compileModification(name, '', 'mappings[0].modification')).toThrow(/^mappings\[0\]\.modification /);
});

test.each<[ModificationName, string, string]>([
  ['Hash', 'Ada', sha256('pepperAda')],
  ['HashMD5', 'Ada', md5('pepperAda')],
  ['HashedNormalized', ' Ada ', sha256('pepperada')],
  ['HashedNormalizedNoSpecialChars', 'A-d-a', sha256('pepperada')],
  ['HashedPhone', '(650)555-1212', sha256('pepper16505551212')],
  ['HashedCountry', 'USA', sha256('pepperus')],
  ['HashedState', 'Ohio', sha256('pepperoh')],
  ['HashedZip', '94035 1234', sha256('pepper94035')],
  ['HashedGender', 'male', sha256('pepperm')],
  ['HashedDateOfBirth', '1997-02-16', sha256('pepper19970216')],
  ['HashedNormalized', digest, sha256(`pepper${digest}`)],
])('modifications: %s: the salt is put before the value', (name, value, expected) => {
  expect(compileModification(name, 'pepper', 'modification')(value)).toBe(expected);
});

test.each<[ModificationName, string]>([
  ['FakeIP', '203.0.113.7'],
  ['FakeDomain', 'https://example.com'],
])('modifications: %s: another salt invents another value', (name, value) => {
  const [plain, salted] = ['', 'pepper'].map((salt) => compileModification(name, salt, 'modification')(value));
  expect(salted).not.toBe(plain);
});

test.each([
  ['Order Completed', 'orderCompleted', 'order-completed', 'Order Completed'],
  ['order_completed', 'orderCompleted', 'order-completed', 'Order Completed'],
  ['--order--completed--', 'orderCompleted', 'order-completed', 'Order Completed'],
  ['HTMLParser', 'htmlParser', 'html-parser', 'HTML Parser'],
  ['fooBARBaz', 'fooBarBaz', 'foo-bar-baz', 'Foo BAR Baz'],
  ['page1view', 'page1View', 'page-1-view', 'Page 1 View'],
  ["don't stop", 'dontStop', 'dont-stop', 'Dont Stop'],
  ['École supérieure', 'écoleSupérieure', 'école-supérieure', 'École Supérieure'],
  ['東京 タワー', '東京タワー', '東京-タワー', '東京 タワー'],
  ['', '', '', ''],
  ['!?', '', '', ''],
])('words: %j: %s, %s, %s', (text, camel, kebab, start) => {
  expect(camelCase(text)).toBe(camel);
  expect(kebabCase(text)).toBe(kebab);
  expect(snakeCase(text)).toBe(kebab.replaceAll('-', '_'));
  expect(startCase(text)).toBe(start);
});
