import type { OutboundEvent } from './define.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { traceparentOf } from './traceparent.ts';

/** Headers of every delivery: who sends, the key by which a repeated attempt is known, and the trace it belongs to. */
export function deliveryHeaders(events: readonly OutboundEvent[]): Readonly<Record<string, string>> {
  const ids = events.map(({ resolved }) => resolved.event.id);
  return {
    'user-agent': 'Sluice/1',
    'idempotency-key': idempotencyKey(ids),
    traceparent: traceparentOf(ids, events[0]?.resolved.event.trace),
  };
}
