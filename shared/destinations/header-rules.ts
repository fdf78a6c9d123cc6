import { isJsonObject } from '../process/json.ts';
import { SettingError } from './define.ts';

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
