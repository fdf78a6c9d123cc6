import type { EventHead } from '../events/event-head.ts';
import { headOf } from '../events/resolved-event.ts';
import type { OutboundEvent } from './define.ts';

/** The event's head, without parsing the event where that can be spared. */
export function outboundHead(event: OutboundEvent): EventHead {
  return event.head ?? headOf(event.resolved);
}

/** The event's name as it is sent: of the mapping where one applies, else its own. */
export function outboundName(event: OutboundEvent): string {
  return event.mapped?.eventName ?? outboundHead(event).name;
}
