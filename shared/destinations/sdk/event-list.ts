import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, outboundName } from './event.ts';
import { optionalText } from './settings.ts';
import type { Setting } from './settings.ts';

/** The events that are a destination's one conversion: for platforms that know a conversion by an id in place of a name. */
export function eventList(): Setting<ReadonlySet<string> | undefined> {
  return optionalText(
    {
      label: 'Event names',
      placeholder: 'Order Completed, Signed Up',
      sublabel: 'The events that are this conversion, separated by commas. Without any, every event is.',
    },
    (text) => new Set(text.split(',').flatMap((name) => name.trim().toLowerCase() || [])),
  );
}

/** Whether an event is one of them; names match without case. */
export function acceptsListed(names: ReadonlySet<string> | undefined): (event: OutboundEvent) => boolean {
  return (event) =>
    acceptsCustomerEvents(event) &&
    (names === undefined || names.size === 0 || names.has(outboundName(event).toLowerCase()));
}
