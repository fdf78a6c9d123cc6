import type { OutboundEvent, OutboundRequest } from './define.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { traceparentOf } from './traceparent.ts';

type PostOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What the body carries: gives the idempotency key and the trace. */
  readonly events: readonly OutboundEvent[];
};

/** A POST of JSON as every platform kind sends it. */
export function postJson({ url, headers, body, events }: PostOptions): OutboundRequest {
  const ids = events.map(({ resolved }) => resolved.event.id);
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Sluice/1',
      'idempotency-key': idempotencyKey(ids),
      traceparent: traceparentOf(ids, events[0]?.resolved.event.trace),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
