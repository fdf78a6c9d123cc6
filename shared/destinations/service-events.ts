import type { OutboundEvent } from './define.ts';
import { outboundName } from './outbound-head.ts';

/**
 * Whether an event is the customer's own, or was given a name of theirs by a mapping: not one of the service's, such as
 * $identify and $experiment_impression, which are nothing to an advertising platform.
 */
export function takesCustomerEvents(event: OutboundEvent): boolean {
  return !outboundName(event).startsWith('$');
}
