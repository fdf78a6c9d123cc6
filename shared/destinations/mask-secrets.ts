import type { DestinationKind, OutboundRequest } from './sdk/destination.ts';
import { splitTemplate } from '../routing/mapping/template.ts';
import { jsonDepthCeiling, textNestsDeeper } from '../runtime/json-depth.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { secretMask } from '../contracts/config/secrets.ts';

/** Replaces secrets in a request and its response with a mask. */
export type SecretMasker = {
  /** `isCut`: the text may end with part of a secret, so its last characters are dropped. */
  text(text: string, isCut?: boolean): string;
  url(url: string): string;
  headers(headers: Readonly<Record<string, string>>): Record<string, string>;
};

/**
 * A shorter secret would match unrelated text, so it is masked only as a whole value or JSON string.
 */
const foundAnywhereMin = 3;
/** A shorter piece of base64 could match any text. */
const base64Min = 6;

/**
 * Masks secrets wherever they appear, including escaped or encoded copies in a response. Also masks
 * whole values by name: the headers in `secretHeaders`, and names that are secret in any request.
 */
export function createSecretMasker(
  secrets: readonly string[],
  secretHeaders: ReadonlySet<string> = new Set(),
): SecretMasker {
  const whole = new Set(secrets);
  const anywhere = secrets.filter((secret) => secret.length >= foundAnywhereMin);
  const forms = [...new Set(anywhere.flatMap(formsOf))];
  const quoted = [...whole]
    .filter((secret) => secret.length < foundAnywhereMin)
    .map((secret) => JSON.stringify(secret));
  const longest = Math.max(1, ...[...forms, ...quoted].map((form) => form.length));
  const text = (value: string, isCut = false): string => {
    if (whole.has(value)) return secretMask;
    const spans = [
      ...forms.flatMap((form) => spansOf(value, form)),
      ...quoted.flatMap((form) => spansOf(value, form)).map(([start, end]): Span => [start + 1, end - 1]),
    ];
    // A secret that continues after the cut begins here or later.
    return masked(value, spans, isCut ? Math.max(0, value.length - longest + 1) : value.length);
  };
  const member = (name: string, value: string, isSecret = isSecretName(name)): string =>
    isSecret && value !== '' ? `${schemeOf(value)}${secretMask}` : text(value);
  const isSecretHeader = (name: string): boolean => isSecretName(name) || secretHeaders.has(name.toLowerCase());
  return {
    text,
    url: (url) => text(withoutUser(maskQuery(url, (name, value) => member(name, value)))),
    headers: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [text(name), member(name, value, isSecretHeader(name))]),
      ),
  };
}

/** Start and end of a secret in a text. */
type Span = readonly [start: number, end: number];

/** Every occurrence of one form of a secret in a text, including occurrences that overlap. */
function spansOf(text: string, form: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) spans.push([at, at + form.length]);
  return spans;
}

/** The text up to `end`, with one mask for all secrets that overlap one another. */
function masked(text: string, spans: readonly Span[], end: number): string {
  let result = '';
  let at = 0;
  for (const [start, spanEnd] of spans.toSorted((a, b) => a[0] - b[0])) {
    if (start >= Math.max(at, end)) break;
    if (start >= at) result += `${text.slice(at, start)}${secretMask}`;
    at = Math.max(at, spanEnd);
  }
  return at < end ? result + text.slice(at, end) : result;
}

/** Masks the values of a query and keeps its order and escapes. */
function maskQuery(url: string, mask: (name: string, value: string) => string): string {
  const start = url.indexOf('?');
  if (start === -1) return url;
  const [query = '', ...fragment] = url.slice(start + 1).split('#');
  const parts = query.split('&').map((part) => {
    const [[name, value] = ['', '']] = new URLSearchParams(part);
    const masked = mask(name, value);
    return masked === value ? part : `${part.split('=')[0] ?? ''}=${masked}`;
  });
  return [`${url.slice(0, start)}?${parts.join('&')}`, ...fragment].join('#');
}

function withoutUser(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, `$1${secretMask}@`);
}

/**
 * Creates a masker for each request of a destination, from its secret settings and from the values
 * that the kind derived from them for the request.
 */
export function createRequestMasker(
  kind: Pick<DestinationKind, 'descriptor'>,
  settings: JsonObject,
): (request: OutboundRequest) => SecretMasker {
  let usual: ReturnType<typeof ofSettings> | undefined;
  const ofSettings = () => {
    const headers = secretHeaders(kind, settings);
    const names = new Set(headers.keys());
    const secrets = new Set(secretSettings(kind, settings));
    return { headers, names, secrets, masker: createSecretMasker([...secrets], names) };
  };
  return (request) => {
    // Built at the first request and cached, because building a masker is expensive.
    usual ??= ofSettings();
    const { headers, names, secrets, masker } = usual;
    const made = secretsInRequest(request, headers).filter((secret) => !secrets.has(secret));
    return made.length === 0 ? masker : createSecretMasker([...secrets, ...made], names);
  };
}

/** The ways in which a secret may be written in a URL, a form body, JSON, HTML or an encoding. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = percentEncoded(secret);
  const hex = Buffer.from(secret).toString('hex');
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [
    secret,
    secret.trim(),
    secret.toLowerCase(),
    secret.toUpperCase(),
    json,
    json.replaceAll('/', '\\/'),
    json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    percent.replaceAll('%20', '+'),
    new URLSearchParams([['', secret]]).toString().slice(1),
    html,
    html.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    html.replaceAll('"', '&#34;').replaceAll("'", '&#x27;'),
    hex,
    hex.toUpperCase(),
    ...base64Of(secret),
  ].filter((form) => form.length >= foundAnywhereMin);
}

function percentEncoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

/**
 * The base64 characters that appear in the encoding of any text that contains the secret, for each
 * of the three possible offsets within a group.
 */
function base64Of(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const start = Math.ceil((offset * 4) / 3);
    const end = Math.floor((bytes.length * 8) / 6);
    const inner = bytes.toString('base64').slice(start, end);
    if (inner.length < base64Min) return [];
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const secretWords = /auth|token|secret|passw|pwd|signature|credential|cookie|session|key(?!word)|^sig$|-sig$/i;
const plainNames: ReadonlySet<string> = new Set(['idempotency-key']);

/** Whether a header or query parameter is secret by its name. */
export function isSecretName(name: string): boolean {
  return secretWords.test(name) && !plainNames.has(name.toLowerCase());
}

/** Leading words of an Authorization header that are not secret. */
const scheme =
  /^(?:bearer|basic|token|apikey|api-key|digest|oauth|aws4-hmac-sha256|klaviyo-api-key|key|zoho-oauthtoken) +(?=\S)/i;

/**
 * Members of a secret JSON setting that are not secret themselves, such as a content type or an
 * address.
 */
const plainMember =
  /^(?:content-type|accept(?:-.+)?|user-agent|cache-control|type|project_id|universe_domain|.*_ur[il])$/i;

/**
 * The secret texts in a destination's settings: each secret setting, the members of a JSON secret,
 * and the literal texts of a secret template.
 */
export function secretSettings(kind: Pick<DestinationKind, 'descriptor'>, settings: JsonObject): string[] {
  const texts = secretValues(kind, settings).flatMap((value) => {
    const parsed = parse(value);
    const leaves = parsed === undefined ? [value] : membersOf(parsed);
    return [value, ...leaves, ...leaves.flatMap(literalsOf)];
  });
  return [...new Set([...texts, ...texts.flatMap(pathsOf)].flatMap(withParts))];
}

/** The path of a secret address, which stays secret on any host. */
function pathsOf(text: string): string[] {
  if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) return [];
  const { pathname, search } = new URL(text);
  const path = `${pathname}${search}`.slice(1);
  return path.length >= base64Min ? [path] : [];
}

/**
 * The headers that come from a secret setting, by lower-case name. The value is whether the header's
 * template contains literal text.
 */
export function secretHeaders(
  kind: Pick<DestinationKind, 'descriptor'>,
  settings: JsonObject,
): ReadonlyMap<string, boolean> {
  const given = secretValues(kind, settings).map(parse).filter(isJsonObject).flatMap(Object.entries);
  return new Map(
    given
      .filter(([name, value]) => typeof value === 'string' && !plainMember.test(name))
      .map(([name, value]) => [name.toLowerCase(), literalsOf(String(value)).length > 0]),
  );
}

function secretValues({ descriptor }: Pick<DestinationKind, 'descriptor'>, settings: JsonObject): string[] {
  return descriptor.settings.flatMap(({ type, key }) => {
    const value = settings[key];
    return (type === 'Secret' || type === 'GenericOauth') && typeof value === 'string' ? [value] : [];
  });
}

/**
 * The literal texts of a template, without a credential scheme; a text without placeholders is one
 * literal.
 */
function literalsOf(template: string): string[] {
  return splitTemplate(template)
    .filter((part) => typeof part === 'string')
    .map((text) => text.replace(scheme, '').trim())
    .filter((text) => text !== '' && !isScheme(text));
}

/**
 * The texts that a kind derived from secrets for its request: signatures, credentials, keys in the
 * address, and the values of secret headers that do not come from the event alone.
 */
export function secretsInRequest(
  { url, headers }: OutboundRequest,
  ofSettings: ReadonlyMap<string, boolean> = new Map(),
): string[] {
  const { username, password, searchParams } = new URL(url);
  const named = [
    ...Object.entries(headers).filter(([name]) => isSecretName(name) || ofSettings.get(name.toLowerCase()) === true),
    ...[...searchParams].filter(([name]) => isSecretName(name)),
  ];
  const user = [username, password].map((text) => decode(text));
  return [...user, ...named.map(([, value]) => value)].filter((text) => text !== '').flatMap(withParts);
}

/** Whether a text is only a credential scheme. */
const isScheme = (text: string): boolean => schemeOf(`${text} x`) === `${text} `;

/** The credential scheme with its trailing space; empty if the text has none. */
export function schemeOf(text: string): string {
  return scheme.exec(text)?.[0] ?? '';
}

function withParts(text: string): string[] {
  const prefix = schemeOf(text);
  if (prefix === '') return [text];
  const credential = text.slice(prefix.length);
  if (!/^basic/i.test(prefix)) return [text, credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [text, credential, pair, ...pair.split(':').slice(1)].filter((part) => part !== '');
}

function membersOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (plainMember.test(name) ? [] : membersOf(member)));
}

function parse(text: string): unknown {
  // No kind reads a member at such a depth, and `membersOf` recurses once per level.
  if (textNestsDeeper(text, jsonDepthCeiling)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
