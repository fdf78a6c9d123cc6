import type { OutboundEvent } from './define.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { outboundHead } from './outbound-head.ts';
import { traceparentOf } from './traceparent.ts';

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
