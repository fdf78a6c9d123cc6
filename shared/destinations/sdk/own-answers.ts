import type { OutboundAnswer } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';

/**
 * Reads an answer of an endpoint of the customer's own, where the address is the same for every event: a 404 there comes from a
 * deployment or a route that is not there yet, and a 409 from a receiver that still works on the same event. Both pass.
 * Undefined leaves the answer to its status.
 */
export function readOwnAnswer({ status }: OutboundAnswer, events: readonly unknown[]): readonly Outcome[] | undefined {
  if (status !== 404 && status !== 409) return undefined;
  return events.map(() => ({ kind: 'retry', reason: `status ${status}` }));
}
