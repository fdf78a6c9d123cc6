import { UnfitEventError } from './destination.ts';
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
