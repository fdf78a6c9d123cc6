import type { OutboundRequest } from './destination.ts';
import { isJsonObject } from '../../runtime/json.ts';

/** A request and its follow-up requests, with a placeholder for the token that the sender adds. */
export function requestsInTurn(request: OutboundRequest): readonly OutboundRequest[] {
  const own = withToken(request);
  return own.next === undefined ? [own] : [own, ...requestsInTurn(own.next)];
}

function withToken(request: OutboundRequest): OutboundRequest {
  if (request.oauth === undefined) return request;
  const authorization = `${request.oauth.scheme ?? 'Bearer'} example`;
  return { ...request, headers: { ...request.headers, authorization } };
}

/**
 * The members of a request and its follow-ups. The second request's members are under `next`, the
 * third's under `next.next`; rows of a list are named by index.
 */
export function contentInTurn(request: OutboundRequest): unknown {
  const [last, ...others] = requestsInTurn(request).map(contentOf).toReversed();
  return others.reduce((next: unknown, content) => {
    const members = Array.isArray(content) ? Object.fromEntries(content.entries()) : content;
    return isJsonObject(members) ? { ...members, next } : content;
  }, last);
}

/**
 * The content of a request: its JSON, its form, or the query of its address. Bytes that are not
 * JSON become text.
 */
export function contentOf({ url, body, bodyBytes, headers }: OutboundRequest): unknown {
  const text = body ?? bodyBytes?.toString('utf8');
  if (text === undefined) return Object.fromEntries(new URL(url).searchParams);
  if (isForm(headers)) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const isForm = (headers: OutboundRequest['headers']): boolean =>
  headers['content-type']?.includes('form') === true;
