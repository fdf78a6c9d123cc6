import { gzipSync } from 'node:zlib';
import { identify, nested, nestedMixed, text, token, track } from './contract-row.ts';
import type { ContractRow } from './contract-row.ts';
import { testSources } from './test-sources.ts';

/** The contract of whole requests: keys, JSON, media types, sizes, origins. */
export const requestRows: readonly ContractRow[] = [
  // keys
  { name: 'key: missing', body: { event: 'a' }, status: 401 },
  { name: 'key: null', body: track({ token: null }), status: 401 },
  { name: 'key: unknown', body: track({ token: 'nobody' }), status: 401 },
  { name: 'key: unknown, and the event is wrong too', body: { token: 'nobody' }, status: 401 },
  { name: 'key: of a disabled source', body: track({ token: testSources.disabled.token }), status: 401 },
  { name: 'key: test key', body: track({ token: testSources.server.testToken }), status: 200 },
  { name: 'key: identify with an unknown key', path: 'identify', body: identify({ token: 'nobody' }), status: 401 },
  {
    name: 'key: batch with an unknown key',
    path: 'batch',
    body: { token: 'nobody', events: [] },
    status: 401,
    error: /token/,
  },
  // JSON
  { name: 'json: empty body', body: '', status: 400, error: /JSON/ },
  { name: 'json: truncated', body: '{"token":"a"', status: 400, error: /JSON/ },
  { name: 'json: not an object', body: '[]', status: 400, error: /object/ },
  { name: 'json: two documents', body: '{}{}', status: 400, error: /JSON/ },
  { name: 'json: trailing comma', body: `{"token":"${token}","event":"a",}`, status: 400, error: /JSON/ },
  { name: 'json: two byte order marks', body: `\ufeff\ufeff{"token":"${token}","event":"a"}`, status: 400 },
  {
    name: 'json: not UTF-8',
    body: Buffer.from(`{"token":"${token}","event":"\xff"}`, 'latin1'),
    status: 400,
    error: /UTF-8/,
  },
  { name: 'json: as deep as allowed', body: `{"token":"${token}","event":"a","x":${nested(63)}}`, status: 200 },
  {
    name: 'json: too deep',
    body: `{"token":"${token}","event":"a","x":${nested(64)}}`,
    status: 400,
    error: /^the body nests deeper than 64 levels$/,
  },
  {
    name: 'json: 100,000 levels',
    body: `{"token":"${token}","event":"a","x":${nested(100_000)}}`,
    status: 400,
    error: /^the body nests deeper than 64 levels$/,
  },
  ...['properties', 'eventProperties', 'userProperties', 'custom_properties', 'defaultProperties'].flatMap((field) => [
    {
      name: `json: ${field} as deep as allowed`,
      body: `{"token":"${token}","event":"a","${field}":${nestedMixed(63)}}`,
      status: 200,
    },
    ...[64, 100_000].map((levels) => ({
      name: `json: ${field} of ${levels} levels`,
      body: `{"token":"${token}","event":"a","${field}":${nestedMixed(levels)}}`,
      status: 400,
      error: new RegExp(`^${field} nests deeper than 64 levels$`),
    })),
  ]),
  {
    name: 'json: an identify that is too deep',
    path: 'identify',
    body: `{"token":"${token}","userProperties":{"custom_properties":${nestedMixed(63)}}}`,
    status: 400,
    error: /^userProperties nests deeper than 64 levels$/,
  },
  {
    name: 'json: brackets in texts and keys are no levels',
    body: track({ eventProperties: { [nested(80)]: nestedMixed(80), 'a\\"[[': '\\"{{' } }),
    status: 200,
  },
  {
    name: 'json: too many keys',
    body: track({ eventProperties: Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, 1])) }),
    status: 400,
    error: /keys/,
  },
  {
    name: 'json: __proto__',
    body: `{"token":"${token}","event":"a","eventProperties":{"__proto__":{"a":1}}}`,
    status: 400,
    error: /forbidden/,
  },
  {
    name: 'json: __proto__ in escapes',
    body: `{"token":"${token}","event":"a","\\u005f_proto__":{"a":1}}`,
    status: 400,
    error: /forbidden/,
  },
  {
    name: 'json: constructor.prototype',
    body: `{"token":"${token}","event":"a","constructor":{"prototype":{}}}`,
    status: 400,
    error: /forbidden/,
  },
  { name: 'json: a harmless constructor', body: track({ constructor: 'Lego' }), status: 200 },
  { name: 'json: null character', body: track({ event: 'a\u0000b' }), status: 400, error: /null/ },
  { name: 'json: half a surrogate pair is repaired', body: `{"token":"${token}","event":"\\ud83d"}`, status: 200 },
  {
    name: 'json: token twice',
    body: `{"token":"unknown","token":"${token}","event":"a"}`,
    status: 400,
    error: /twice/,
  },
  { name: 'json: line breaks', body: JSON.stringify(track({}), undefined, 2), status: 200 },
  // media types
  { name: 'type: none', body: Buffer.from(JSON.stringify(track({}))), headers: { 'content-type': '' }, status: 200 },
  { name: 'type: text/plain', body: track({}), headers: { 'content-type': 'text/plain;charset=UTF-8' }, status: 200 },
  {
    name: 'type: JSON with a charset',
    body: track({}),
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    status: 200,
  },
  {
    name: 'type: a form',
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    error: /JSON/,
  },
  {
    name: 'type: XML in a batch',
    path: 'batch',
    body: '<a/>',
    headers: { 'content-type': 'text/xml' },
    status: 415,
    error: /JSON/,
  },
  {
    name: 'encoding: gzip on track',
    body: gzipSync(JSON.stringify(track({}))),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
  },
  {
    name: 'encoding: brotli on batch',
    path: 'batch',
    body: 'a',
    headers: { 'content-encoding': 'br' },
    status: 415,
    error: /encoding/,
  },
  // sizes
  { name: 'size: track at 1 MiB', body: sized(1024 ** 2), status: 200 },
  { name: 'size: track over 1 MiB', body: sized(1024 ** 2 + 1), status: 413 },
  { name: 'size: track of 2 MiB', body: sized(2 * 1024 ** 2), status: 413 },
  { name: 'size: identify of 2 MiB', path: 'identify', body: sized(2 * 1024 ** 2), status: 413 },
  // allowed pages and allowed client addresses
  {
    name: 'domain: allowed',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://example.com' },
    status: 200,
  },
  {
    name: 'domain: below an allowed one',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://www.example.com:8443' },
    status: 200,
  },
  {
    name: 'domain: entry written as an address',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'http://shop.test' },
    status: 200,
  },
  {
    name: 'domain: another one',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://badexample.com' },
    status: 403,
  },
  {
    name: 'domain: opaque origin',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'null' },
    status: 403,
  },
  {
    name: 'domain: by the referer',
    body: track({ token: testSources.domains.token }),
    headers: { referer: 'https://evil.test/a' },
    status: 403,
  },
  { name: 'domain: none named', body: track({ token: testSources.domains.token }), status: 200 },
  {
    name: 'address: in an IPv4 range',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '10.20.30.40' },
    status: 200,
  },
  {
    name: 'address: a single one',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '192.0.2.7' },
    status: 200,
  },
  {
    name: 'address: in an IPv6 range',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '2001:db8::1' },
    status: 200,
  },
  {
    name: 'address: an IPv4 address mapped into IPv6',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '::ffff:10.1.1.1' },
    status: 200,
  },
  {
    name: 'address: outside',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '192.0.2.8' },
    status: 403,
  },
  {
    name: 'address: claimed in front of the proxy',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '10.1.1.1, 192.0.2.8' },
    status: 403,
  },
  { name: 'address: the connection itself', body: track({ token: testSources.addresses.token }), status: 403 },
  {
    name: 'address: a list that no address can match',
    body: track({ token: testSources.brokenAddresses.token }),
    status: 403,
  },
  // addresses of the interface
  { name: 'route: unknown', path: 'nothing', body: {}, status: 404 },
  { name: 'route: trailing slash', path: 'track/', body: track({}), status: 200 },
];

/** A track body of exactly this many bytes. */
function sized(bytes: number): string {
  const empty = JSON.stringify(track({ filler: '' }));
  return JSON.stringify(track({ filler: text(bytes - empty.length) }));
}
