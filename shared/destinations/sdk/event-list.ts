import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, outboundName } from './event.ts';
import { pairList } from './setting-lists.ts';
import { optionalText } from './settings.ts';
import type { Setting } from './settings.ts';

/**
 * A setting for the events that a destination sends as its one conversion, for platforms that identify
 * a conversion by id, not by name. Events not listed are skipped; an empty list sends nothing.
 */
export function eventList(): Setting<ReadonlySet<string>> {
  const setting = optionalText(
    {
      label: 'Event names',
      placeholder: 'Order Completed, Signed Up',
      sublabel: 'The events to send as this conversion, separated by commas. An empty list sends nothing.',
      example: 'Order Completed',
    },
    (text) => new Set(text.split(',').flatMap((name) => name.trim().toLowerCase() || [])),
  );
  return {
    ...setting,
    read: (given, key) => setting.read(given, key) ?? new Set<string>(),
    warningOf: (given) =>
      typeof given === 'string' && /[^,\s]/.test(given) ? undefined : 'The event list is empty, so nothing is sent.',
  };
}

/** Whether the list contains an event; names match in any case. */
export function acceptsListed(names: ReadonlySet<string>): (event: OutboundEvent) => boolean {
  return (event) => acceptsCustomerEvents(event) && names.has(outboundName(event).trim().toLowerCase());
}

/**
 * A setting for further conversions: one id per event, such as `Signed Up = 104013`. Event names match
 * in any case.
 */
export function otherConversions(id: RegExp, placeholder: string): Setting<ReadonlyMap<string, string>> {
  const setting = pairList({
    label: 'Other conversions',
    placeholder,
    sublabel: 'Events to send under another conversion ID, as pairs separated by commas.',
    value: id,
  });
  return {
    ...setting,
    read: (given, key) => new Map(setting.read(given, key).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/**
 * The conversion id of an event, from the destination's own list or the further conversions;
 * undefined if it is in neither.
 */
export function conversionIdOf(
  event: OutboundEvent,
  own: { readonly names: ReadonlySet<string>; readonly id: string },
  others: ReadonlyMap<string, string>,
): string | undefined {
  if (!acceptsCustomerEvents(event)) return undefined;
  const name = outboundName(event).trim().toLowerCase();
  return others.get(name) ?? (own.names.has(name) ? own.id : undefined);
}
