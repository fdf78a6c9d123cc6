import type { OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import { outboundHead } from '../../../../shared/destinations/sdk/event.ts';

/**
 * Cuts a batch into the requests it takes, each as indexes into `events`: one group a request, as few requests as keep
 * the events of every visitor in order when the requests are sent one after the other.
 */
export function splitGroups(
  groupOf: (event: OutboundEvent) => string,
  events: readonly OutboundEvent[],
): readonly (readonly number[])[] {
  const requests: number[][] = [];
  /** The last request of each group, and the last one that holds an event of each visitor. */
  const lastOfGroup = new Map<string, number>();
  const lastOfVisitor = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    const group = groupOf(event);
    const visitorId = outboundHead(event).visitorId;
    const open: number = lastOfGroup.get(group) ?? -1;
    const isInOrder = open >= (lastOfVisitor.get(visitorId) ?? 0);
    const request: number = isInOrder ? open : requests.push([]) - 1;
    requests[request]?.push(index);
    lastOfGroup.set(group, request);
    lastOfVisitor.set(visitorId, request);
  }
  return requests;
}
