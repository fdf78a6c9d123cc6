import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dmaIp, fakeIp, regionalIp } from './addresses.ts';

test.each([
  ['203.0.113.200', '203.0.113.0', '203.0.0.0'],
  [' 203.0.113.200 ', '203.0.113.0', '203.0.0.0'],
  ['2a00:1450:4001:81b::200e', '2a00:1450:4001::', '2a00:1450::'],
  ['::ffff:203.0.113.200', '203.0.113.0', '203.0.0.0'],
  ['fe80::1%eth0', 'fe80::', 'fe80::'],
  ['203.0.113', undefined, undefined],
  ['010.0.0.1', undefined, undefined],
  ['0x7f.0.0.1', undefined, undefined],
  ['203.0.113.200:443', undefined, undefined],
  ['300.0.0.1', undefined, undefined],
  ['', undefined, undefined],
  ['1'.repeat(60), undefined, undefined],
])('addresses: %s: regional %s, market area %s', (text, regional, marketArea) => {
  expect(regionalIp(text, '')).toBe(regional);
  expect(dmaIp(text, '')).toBe(marketArea);
  expect(fakeIp(text, '') === undefined).toBe(regional === undefined);
});

test('addresses: fake ip: a fake address is from a reserved range', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV6(), fc.string(), (four, six, salt) => {
      expect(fakeIp(four, salt)).toMatch(/^198\.1[89]\.\d+\.\d+$/);
      const fake = fakeIp(six, salt) ?? '';
      // IPv6 text may contain an IPv4 address; its replacement is then an IPv4 address too.
      expect(fake).toMatch(/^(2001:db8:|198\.1[89]\.)/);
    }),
  );
});
