import type { OutboundRequest } from './outbound.ts';

/** The request is permanently invalid. The message names the problem and contains no value. */
export class InvalidRequestError extends Error {}

/** A request in the form that goes over a connection. */
export type WrittenRequest = {
  /** Parts to send, in order. Text is UTF-8. */
  readonly parts: readonly (string | Buffer)[];
  /** Whether the connection must be closed after the response. */
  readonly closes: boolean;
};

/** The target of a request within its origin. */
type Target = { readonly host: string; readonly path: string };

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const asciiValue = /^[\t\x20-\x7e]*$/;
// RFC 9110, section 5.5: bytes above ASCII are allowed and have no defined meaning.
const anyValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** How the writer treats a header of the request. */
type HeaderUse = 'plain' | 'host' | 'connection' | 'content-length' | 'accept-encoding' | 'refused';

/** Headers that the writer sets itself or refuses, because conflicting headers make request smuggling possible. */
const ownUse: Readonly<Record<string, HeaderUse>> = {
  host: 'host',
  connection: 'connection',
  'content-length': 'content-length',
  'accept-encoding': 'accept-encoding',
  'transfer-encoding': 'refused',
  'keep-alive': 'refused',
  upgrade: 'refused',
  expect: 'refused',
  trailer: 'refused',
};

/** A longer body, in UTF-16 units, is not joined with its head, because two writes are cheaper than the copy. */
const joinedMax = 16 * 1_024;

const usesKeptMax = 1_000;
const uses = new Map<string, HeaderUse>();

/**
 * Writes an HTTP/1.1 request (RFC 9112). Throws InvalidRequestError for an invalid header, or one that the request
 * may not set.
 */
export function writeRequest(request: OutboundRequest, { host, path }: Target): WrittenRequest {
  const { method, headers } = request;
  const body = request.bodyBytes ?? request.body ?? '';
  let closes = false;
  let isAscii = true;
  let ownHost: string | undefined;
  let length: number | undefined;
  // A request without this header accepts any coding (RFC 9110, section 12.5.3).
  let acceptEncoding = 'identity';
  let fields = '';
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    if (!asciiValue.test(value)) {
      if (!anyValue.test(value)) throw new InvalidRequestError(`invalid request: ${shown(name)} has an invalid value`);
      isAscii = false;
    }
    switch (useOf(name)) {
      case 'plain':
        fields += `${name}: ${value}\r\n`;
        break;
      case 'host':
        ownHost = value;
        break;
      case 'connection':
        closes = closesAfter(value);
        break;
      case 'content-length':
        length = Number(value);
        break;
      case 'accept-encoding':
        acceptEncoding = value;
        break;
      case 'refused':
        throw new InvalidRequestError(`invalid request: ${shown(name)} must not be set`);
    }
  }
  const bodyBytes = Buffer.byteLength(body);
  if (length !== undefined && length !== bodyBytes) {
    throw new InvalidRequestError('invalid request: content-length differs from the length of the body');
  }
  // RFC 9110, section 8.6: a GET request without a body sends no length.
  if (bodyBytes > 0 || method !== 'GET') fields += `content-length: ${bodyBytes}\r\n`;
  const connection = closes ? 'close' : 'keep-alive';
  const own = `host: ${ownHost ?? host}\r\nconnection: ${connection}\r\naccept-encoding: ${acceptEncoding}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\n${own}${fields}\r\n`;
  return {
    parts:
      isAscii && typeof body === 'string' && body.length <= joinedMax
        ? [head + body]
        : [isAscii ? head : Buffer.from(head, 'latin1'), body],
    closes,
  };
}

function closesAfter(value: string): boolean {
  const said = value.toLowerCase();
  if (said !== 'close' && said !== 'keep-alive') {
    throw new InvalidRequestError('invalid request: connection is neither close nor keep-alive');
  }
  return said === 'close';
}

/** Nearly all requests use the same few names, so classifications are cached. */
function useOf(name: string): HeaderUse {
  const known = uses.get(name);
  if (known !== undefined) return known;
  if (!token.test(name)) throw new InvalidRequestError('invalid request: the name of a header is not valid');
  const lower = name.toLowerCase();
  const use = Object.hasOwn(ownUse, lower) ? (ownUse[lower] ?? 'plain') : 'plain';
  if (uses.size >= usesKeptMax) uses.clear();
  uses.set(name, use);
  return use;
}

const shown = (name: string): string => (token.test(name) ? `the header ${name}` : 'a header');
