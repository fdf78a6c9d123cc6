import type { PlatformError } from '../../contracts/events/exchange.ts';
import type { OutboundAnswer } from '../../egress/outbound.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from './answers.ts';

const codeNames = ['code', 'error_code', 'errorCode', '__type', 'status', 'category', 'type'] as const;
const messageNames = [
  'message',
  'Message',
  'error_message',
  'errorMessage',
  'error_description',
  'detail',
  'description',
  'title',
  'reason',
  'msg',
] as const;
/** Codes that add nothing to the status. */
const emptyCodes: ReadonlySet<string> = new Set([
  'error',
  'errors',
  'fail',
  'failed',
  'failure',
  'bad_request',
  'BAD_REQUEST',
]);
const codeShape = /^[\w.:/#-]{1,64}$/;
const messageCharsMax = 300;

/**
 * The error code and message of a platform's response, in any of the usual places. Values that differ between events
 * are masked, so that failures can be grouped by this text, and so that the text contains no personal data.
 */
export function readPlatformError(answer: Pick<OutboundAnswer, 'status' | 'body'>): PlatformError {
  const { status, body } = answer;
  const json = jsonAnswer({ status, body, headers: {} });
  const levels = json === undefined ? [] : errorLevels(json);
  const code = levels.length === 0 ? codeInText(body) : codeOf(levels, status);
  const message = plainMessage(levels.length === 0 ? messageInText(body) : messageOf(levels));
  return { status, ...(code === undefined ? {} : { code }), ...(message === '' ? {} : { message }) };
}

/** The members in which platforms put an error, most specific first. */
function errorLevels(body: JsonObject): (JsonObject | string)[] {
  const { error, errors, fault, details } = body;
  const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
  const found = [error, first(errors), fault, first(details), body];
  return found.filter((level) => typeof level === 'string' || isJsonObject(level));
}

function codeOf(levels: readonly (JsonObject | string)[], status: number): string | undefined {
  for (const level of levels) {
    if (typeof level === 'string') continue;
    for (const name of codeNames) {
      const code = textOf(level[name]);
      if (code === undefined || code === String(status) || emptyCodes.has(code) || !codeShape.test(code)) continue;
      const subcode = textOf(level['error_subcode']);
      return subcode === undefined || !codeShape.test(subcode) ? code : `${code}/${subcode}`;
    }
  }
  return undefined;
}

function messageOf(levels: readonly (JsonObject | string)[]): string {
  for (const level of levels) {
    if (typeof level === 'string') return level;
    const messages = messageNames.flatMap((name) => textOf(level[name]) ?? []);
    // Meta names the missing field in a member of its own, not in `message`.
    const forUser = textOf(level['error_user_msg']);
    const parts = [messages[0], forUser].filter((part) => part !== undefined);
    if (parts.length > 0) return [...new Set(parts)].join(': ');
  }
  return '';
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The error code in a body that is not JSON: truncated JSON, XML, or the response of a proxy. */
function codeInText(body: string): string | undefined {
  const [, inXml] = /<Code>([^<]+)<\/Code>/i.exec(body) ?? [];
  const [, inJson] = /"(?:code|error_code)"\s*:\s*"?([\w.:/#-]{1,64})/.exec(body) ?? [];
  const code = inXml ?? inJson;
  return code !== undefined && codeShape.test(code) ? code : undefined;
}

function messageInText(body: string): string {
  const [, inXml] = /<(?:Message|title|h1)[^>]*>([^<]+)</i.exec(body) ?? [];
  const [, inJson] = /"(?:message|error_message|detail)"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(body) ?? [];
  if (inXml !== undefined || inJson !== undefined) return inXml ?? inJson ?? '';
  return /^\s*[<{[]/.test(body) ? '' : (body.trim().split('\n')[0] ?? '');
}

/**
 * The part before the `@` is bounded, because without a bound the search takes quadratic time on a
 * long text.
 */
export const emailInText = /[^\s"'<>@:=,;()]{1,64}@[^\s"'<>@:=,;()]{1,255}/g;
const uuidOrHash = /\b(?:[\da-f]{8}-[\da-f-]{27}|(?=\d{0,400}[a-f])(?=[a-f]{0,400}\d)[\da-f]{12,})\b/gi;
const longWord = /[\w-]{10,}/g;
/** Platform-generated ids: letters and digits mixed. */
const isMixedId = (word: string): boolean => /\d/.test(word) && /[a-z]/i.test(word);
const longNumber = /\d{5,}/g;
const quoted = /(["'`‘“])([^"'`’”]{1,200})(["'`’”])(?![\w])/g;
/**
 * A field name as platforms write it: `user_data`, `event.name`, `eventName`, `items[0]`, or a
 * common word.
 */
const fieldName =
  /^(?:[a-z]+(?:[_.-][a-z0-9_.[\]-]+|\[\d*\][a-z0-9_.[\]-]*)|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}(?:_[A-Z]+)*|email|phone|name|event|events|value|currency|time|timestamp|id|type|url|ip|data|items|price|quantity|token|properties|user|country|city|zip|state)$/;

/** A platform's message without the event content that it quotes. */
export function plainMessage(text: string): string {
  const line = text
    .slice(0, 4 * messageCharsMax)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const plain = line
    .replaceAll(quoted, (all: string, open: string, inner: string, close: string) =>
      fieldName.test(inner) ? all : `${open}…${close}`,
    )
    .replaceAll(emailInText, '…@…')
    .replaceAll(uuidOrHash, '…')
    .replaceAll(longWord, (word) => (isMixedId(word) ? '…' : word))
    .replaceAll(longNumber, '#');
  return plain.length > messageCharsMax ? `${plain.slice(0, messageCharsMax - 1)}…` : plain;
}
