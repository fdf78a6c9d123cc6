import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';

/**
 * The other service's requests from a recording's `expected`: the payload itself; a request as RudderStack's
 * transformer returns it (`endpoint`, `params`, `body.JSON`, `body.FORM` …); a request as `{url, body}`, alone or as
 * Segment's event tester shows it, in `request`; a list of requests in sending order. `skipped`: nothing was sent.
 */
export function recordedPayload(expected: unknown): unknown {
  if (!Array.isArray(expected) || expected.length === 0 || !expected.every(isRequest)) return payloadOf(expected);
  const [last, ...others] = expected.map(payloadOf).toReversed();
  return others.reduce((next: unknown, content) => (isJsonObject(content) ? { ...content, next } : content), last);
}

const isRequest = (value: unknown): boolean =>
  isJsonObject(value) && (isJsonObject(value['request']) || urlOf(value) !== undefined);

const urlOf = (value: JsonObject): string | undefined =>
  [value['endpoint'], value['url']].find(
    (url): url is string => typeof url === 'string' && ('body' in value || 'method' in value),
  );

function payloadOf(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  if (isJsonObject(value['request']) && isRequest(value['request'])) return payloadOf(value['request']);
  const url = urlOf(value);
  if (url === undefined) return value;
  const { body } = value;
  if (isJsonObject(body)) return transformed(body) ?? (isTransformed(body) ? query(value, url) : body);
  return typeof body === 'string' && body !== '' ? textPayload(body) : query(value, url);
}

const transformedBodies = ['JSON', 'JSON_ARRAY', 'FORM', 'XML', 'GRAPHQL'] as const;

const isTransformed = (body: JsonObject): boolean => transformedBodies.some((name) => isJsonObject(body[name]));

/** The RudderStack body that is not empty. */
function transformed(body: JsonObject): unknown {
  for (const name of transformedBodies) {
    const given = body[name];
    if (!isJsonObject(given) || Object.keys(given).length === 0) continue;
    const text = name === 'JSON_ARRAY' ? given['batch'] : name === 'XML' ? given['payload'] : undefined;
    return typeof text === 'string' ? textPayload(text) : given;
  }
  return undefined;
}

function query({ params }: JsonObject, url: string): unknown {
  const own = isJsonObject(params) ? params : {};
  return { ...(URL.canParse(url) ? Object.fromEntries(new URL(url).searchParams) : {}), ...own };
}

function textPayload(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return /^[^\s=&]+=/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : text;
  }
}
