import { expect, test } from 'vitest';
import type { OutboundRequest } from './outbound.ts';
import { InvalidRequestError, writeRequest } from './write-request.ts';

const target = { host: 'a.example:8080', path: '/in?x=1' };
const write = (request: Partial<OutboundRequest>) =>
  writeRequest({ method: 'POST', url: '', headers: {}, body: '{}', ...request }, target);
/** The bytes of a request as sent over the connection. */
const wire = (request: Partial<OutboundRequest>): Buffer =>
  Buffer.concat(write(request).parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
const text = (request: Partial<OutboundRequest>): string => wire(request).toString();

test('request: has its request line, its own headers, the given headers and the length of the body', () => {
  expect(text({ headers: { 'X-A': '1' }, body: '{"ä":1}' })).toBe(
    'POST /in?x=1 HTTP/1.1\r\nhost: a.example:8080\r\nconnection: keep-alive\r\naccept-encoding: identity\r\nX-A: 1\r\ncontent-length: 8\r\n\r\n{"ä":1}',
  );
});

test('request: asks for no compressed answer, unless its headers accept one', () => {
  expect(text({ headers: {} })).toContain('accept-encoding: identity\r\n');
  const own = text({ headers: { 'Accept-Encoding': 'gzip' } });
  expect(own).toContain('accept-encoding: gzip\r\n');
  expect(own).not.toContain('identity');
});

test.each([
  ['POST', undefined, 'content-length: 0\r\n'],
  ['PUT', '', 'content-length: 0\r\n'],
  ['GET', undefined, ''],
  ['GET', '{}', 'content-length: 2\r\n'],
] as const)('request: %s with body %o: sends %o', (method, body, said) => {
  const [head = ''] = text({ method, body }).split('\r\n\r\n');
  const lengths = `${head}\r\n`.match(/content-length: \d+\r\n/) ?? [''];
  expect(lengths[0]).toBe(said);
});

test('request: a non-ASCII header is sent byte for byte, and the body as UTF-8', () => {
  const bytes = wire({ headers: { 'x-a': 'caf\u00e9' }, body: '"é"' });
  expect(bytes.toString('latin1')).toContain('x-a: caf\u00e9\r\n');
  expect(bytes.toString()).toMatch(/content-length: 4\r\n\r\n"é"$/);
});

test('request: a large body is sent unchanged after the head', () => {
  const body = 'ä'.repeat(100_000);
  expect(write({ body }).parts.at(-1)).toBe(body);
  expect(text({ body })).toMatch(/content-length: 200000\r\n\r\nä/);
  expect(
    wire({ body, headers: { 'x-a': 'caf\u00e9' } })
      .subarray(-200_000)
      .toString(),
  ).toBe(body);
});

test('request: a body of bytes is sent unchanged after the head', () => {
  const bodyBytes = Buffer.from('["ä"]');
  const request = { body: undefined, bodyBytes };
  expect(write(request).parts.at(-1)).toBe(bodyBytes);
  expect(text(request)).toMatch(/content-length: 6\r\n\r\n\["ä"\]$/);
});

test('request: a host header that is given replaces the host of the URL', () => {
  expect(text({ headers: { Host: 'b.example' } }).match(/host: .*/gi)).toEqual(['host: b.example']);
});

test('request: the header `connection: close` is sent, and closes the connection after the answer', () => {
  expect(write({ headers: { Connection: 'Close' } }).closes).toBe(true);
  expect(text({ headers: { Connection: 'Close' } })).toContain('connection: close\r\n');
  expect(write({ headers: { connection: 'keep-alive' } }).closes).toBe(false);
});

test('request: a correct content-length among the given headers is written once', () => {
  expect(text({ headers: { 'Content-Length': '2' } }).match(/content-length: \d+/gi)).toEqual(['content-length: 2']);
});

test.each([
  ['a line break in a value', { 'x-a': 'a\r\nx-b: c' }, 'x-a'],
  ['a NUL in a value', { 'x-a': 'a\0' }, 'x-a'],
  ['a value beyond Latin-1', { 'x-a': '\u0161' }, 'x-a'],
  ['a space in a name', { 'x a': '1' }, 'name of a header'],
  ['a line break in a name', { 'x\r\n': '1' }, 'name of a header'],
  ['no name', { '': '1' }, 'name of a header'],
  ['another length', { 'content-length': '3' }, 'content-length'],
  ['an invalid length', { 'content-length': '2, 2' }, 'content-length'],
  ['a coding', { 'Transfer-Encoding': 'chunked' }, 'Transfer-Encoding'],
  ['an upgrade', { upgrade: 'h2c' }, 'upgrade'],
  ['an expectation', { expect: '100-continue' }, 'expect'],
  ['another connection option', { connection: 'upgrade' }, 'connection'],
])('request: %s: is refused, and the error names it', (_name, headers, named) => {
  const written = (): unknown => write({ headers });
  expect(written).toThrow(InvalidRequestError);
  expect(written).toThrow(named);
});
