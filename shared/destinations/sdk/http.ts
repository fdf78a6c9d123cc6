import { isJsonObject } from '../../process/json.ts';
import { SettingError, UnfitEventError } from './destination.ts';
import type { OutboundEvent, OutboundRequest } from './destination.ts';
import { idempotencyKey, traceparentOf } from './event-ids.ts';
import { outboundHead } from './event.ts';

type PostOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What the body carries: gives the idempotency key and the trace. */
  readonly events: readonly OutboundEvent[];
};

/** A POST of JSON as every platform kind sends it. */
export function postJson({ url, headers, body, events }: PostOptions): OutboundRequest {
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      ...deliveryHeaders(events),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** Headers of every delivery: who sends, the key by which a repeated attempt is known, and the trace it belongs to. */
export function deliveryHeaders(events: readonly OutboundEvent[]): Readonly<Record<string, string>> {
  return { 'user-agent': 'Sluice/1', ...identifyingHeaders(events) };
}

/** The key by which a repeated attempt is known, and the trace it belongs to. */
export function identifyingHeaders(events: readonly OutboundEvent[]): Readonly<Record<string, string>> {
  const heads = events.map(outboundHead);
  const ids = heads.map(({ id }) => id);
  return { 'idempotency-key': idempotencyKey(ids), traceparent: traceparentOf(ids, heads[0]?.trace) };
}

const tokenName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const headersMax = 50;
const valueCharactersMax = 8_192;

// The sender decides these; the metadata headers open the doors of cloud instance services.
const deniedNames: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'metadata',
  'metadata-flavor',
]);
const deniedPrefixes = ['proxy-', 'x-aws-ec2-', 'sec-'];

/** Whether a user may set a header of this name. */
export function isAllowedHeaderName(name: string): boolean {
  const lower = name.toLowerCase();
  return tokenName.test(name) && !deniedNames.has(lower) && !deniedPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** Whether a header can carry the text as it is: Latin-1 without control characters, RFC 9110 section 5.5. */
export function isHeaderValue(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return text.length <= valueCharactersMax && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Reads a setting that is a JSON object of header strings. Names come back in lower case. Throws SettingError. */
export function readHeaders(key: string, value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null || value === '') return {};
  const given = typeof value === 'string' ? parse(key, value) : value;
  if (!isJsonObject(given)) throw new SettingError(key, 'must be a JSON object of strings');
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    if (!isAllowedHeaderName(name)) throw new SettingError(key, 'names a header that cannot be set');
    if (typeof text !== 'string' || !isHeaderValue(text)) {
      throw new SettingError(key, 'must hold strings that fit in a header, without line breaks');
    }
    headers[name.toLowerCase()] = text;
  }
  if (Object.keys(headers).length > headersMax) throw new SettingError(key, `must hold at most ${headersMax} headers`);
  return headers;
}

function parse(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingError(key, 'must be a JSON object of strings');
  }
}

const urlCharactersMax = 2_048;

/** Checks a URL a user gave: absolute, http or https, no credentials in it. Returns its normal form without a fragment. */
export function readWebUrl(key: string, text: string): string {
  if (text.length > urlCharactersMax) throw new SettingError(key, `must have at most ${urlCharactersMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new SettingError(key, 'must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new SettingError(key, 'must not hold a user name or password');
  url.hash = '';
  return url.href;
}

/**
 * The request, if the platform takes one as large. Throws UnfitEventError: a batch is then halved before anything is
 * sent, and a single event refused.
 */
export function withinBytes(request: OutboundRequest, bodyBytesMax: number): OutboundRequest {
  if (Buffer.byteLength(request.body ?? '', 'utf8') > bodyBytesMax) throw new UnfitEventError('the event is too large');
  return request;
}

/** The value of an Authorization header that names a user and a password: RFC 7617, in UTF-8. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}
