import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, outboundName } from './event.ts';
import { optionalText } from './settings.ts';
import type { Setting } from './settings.ts';

/**
 * The events that are a destination's one conversion: for platforms that know a conversion by an id in place of a name. An
 * event that is not named converts nothing, so without names nothing is sent.
 */
export function eventList(): Setting<ReadonlySet<string>> {
  const setting = optionalText(
    {
      label: 'Event names',
      placeholder: 'Order Completed, Signed Up',
      sublabel: 'The events that are this conversion, separated by commas. Without any, nothing is sent.',
      example: 'Order Completed',
    },
    (text) => new Set(text.split(',').flatMap((name) => name.trim().toLowerCase() || [])),
  );
  return {
    ...setting,
    read: (given, key) => setting.read(given, key) ?? new Set<string>(),
    warningOf: (given) =>
      typeof given === 'string' && /[^,\s]/.test(given) ? undefined : 'Names no event: it sends nothing.',
  };
}

/** Whether an event is one of them; names match without case. */
export function acceptsListed(names: ReadonlySet<string>): (event: OutboundEvent) => boolean {
  return (event) => acceptsCustomerEvents(event) && names.has(outboundName(event).trim().toLowerCase());
}
