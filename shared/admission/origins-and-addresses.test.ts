import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { compileAddressRanges, normalizeAddress } from './address-ranges.ts';
import { compileDomains, isPageAllowed } from './allowed-origins.ts';
import { createClientAddress } from './client-address.ts';

test('address ranges: single addresses and CIDR ranges of IPv4 and IPv6 match addresses in normal form', () => {
  const ranges = compileAddressRanges(['10.0.0.0/8', ' 192.0.2.7', '2001:db8::/32', '::ffff:172.16.0.0/108']);
  expect(ranges.rejected).toEqual([]);
  const inside = ['10.1.2.3', '192.0.2.7', '2001:db8::1', '::ffff:10.1.2.3', '172.16.0.1'];
  const outside = ['11.1.2.3', '192.0.2.8', '2001:db9::1', '::1', 'text', '', '0xa.1', '10.1'];
  expect(inside.filter((address) => !ranges.includes(address))).toEqual([]);
  expect(outside.filter((address) => ranges.includes(address))).toEqual([]);
});

test('address ranges: entries that are neither an address nor a range are rejected', () => {
  expect(compileAddressRanges(['10.0.0.0/33', 'host', '10.0.0.1', '0x7f.1']).rejected).toEqual([
    '10.0.0.0/33',
    'host',
    '0x7f.1',
  ]);
});

test('normalizeAddress: an IPv6 address written in full, or mapped from IPv4, becomes its normal form', () => {
  expect(normalizeAddress('0000:0000:0000:0000:0000:ffff:7f00:0001')).toBe('127.0.0.1');
  expect(normalizeAddress('2001:0db8:0000::0001')).toBe('2001:db8::1');
  expect(normalizeAddress('nonsense')).toBeUndefined();
});

/** The bytes of an address, as the HTTP server passes them. */
const bytesOf = (address: string): ArrayBuffer => Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer;

const client = createClientAddress(compileAddressRanges(['127.0.0.1', '10.0.0.0/8']), true);

test.each([
  ['no proxy header', '127.0.0.1', '', '127.0.0.1'],
  ['one hop', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a chain of trusted proxies', '127.0.0.1', '198.51.100.1, 10.0.0.2, 10.0.0.3', '198.51.100.1'],
  ['a claim in front of the chain', '127.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.3', '198.51.100.1'],
  ['a header of an untrusted peer', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['only trusted hops', '127.0.0.1', '10.0.0.9, 10.0.0.2', '10.0.0.9'],
  ['nonsense', '127.0.0.1', 'unknown', '127.0.0.1'],
  ['nonsense after an address', '127.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
  ['ports', '127.0.0.1', '[2001:db8::7]:443, 10.0.0.2:80', '2001:db8::7'],
  ['more hops than anyone has', '127.0.0.1', Array.from({ length: 100 }, () => '10.0.0.1').join(','), '10.0.0.1'],
  ['many claims in front of the chain', '127.0.0.1', `${'1.1.1.1, '.repeat(33)}198.51.100.1`, '198.51.100.1'],
])('client address: %s', (_, connection, forwardedFor, expected) => {
  expect(client.of(bytesOf(connection), forwardedFor)).toBe(expected);
});

test('client address: without trusted proxies X-Forwarded-For is ignored', () => {
  const own = createClientAddress(compileAddressRanges([]), false);
  expect(own.of(bytesOf('::ffff:127.0.0.1'), '198.51.100.1')).toBe('127.0.0.1');
  expect(own.of(bytesOf('2001:db8::1'), '')).toBe('2001:db8::1');
  expect(own.of(new ArrayBuffer(0), '')).toBe('');
});

test('client address: an address as text gives the same result as its bytes', () => {
  expect(client.ofText('::ffff:127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  expect(client.ofText('203.0.113.5', '198.51.100.1')).toBe('203.0.113.5');
  expect(client.ofText('', '')).toBe('');
});

test.each([
  ['a page in the domain', 'https://a.test:8443', '', true],
  ['the Origin before the Referer', 'https://b.test', 'https://a.test/x', false],
  ['the Referer without an Origin', '', 'https://a.test/x?q=1', true],
  ['a request that names no page', '', '', true],
  ['a page that hides its origin', 'null', '', false],
])('origins: %s', (_, origin, referer, allowed) => {
  expect(isPageAllowed(compileDomains(['a.test']), origin, referer)).toBe(allowed);
});

test('origins: a domain allows itself and its subdomains', () => {
  const domains = compileDomains(['Example.com', '*.shop.test', 'https://www.a.test/path']);
  const isAllowed = (host: string): boolean => isPageAllowed(domains, `https://${host}`, '');
  const allowed = ['example.com', 'a.example.com', 'shop.test', 'x.shop.test', 'www.a.test'];
  const refused = ['badexample.com', 'example.com.evil.test', 'com', 'a.test'];
  expect(allowed.filter((host) => !isAllowed(host))).toEqual([]);
  expect(refused.filter(isAllowed)).toEqual([]);
});

test('origins: an empty list allows all pages, and an entry that cannot be parsed allows none', () => {
  expect([compileDomains(null), compileDomains([])]).toEqual([undefined, undefined]);
  expect(isPageAllowed(compileDomains(['not a host']), 'https://a.test', '')).toBe(false);
});
