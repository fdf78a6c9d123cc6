import type { OutboundEvent, OutboundRequest } from './define.ts';
import { deliveryHeaders } from './delivery-headers.ts';

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
