import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, outboundName } from './event.ts';
import { pairList } from './setting-lists.ts';
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

/** Conversions beside the destination's own: an id for each event, such as `Signed Up = 104013`. Names match without case. */
export function otherConversions(id: RegExp, placeholder: string): Setting<ReadonlyMap<string, string>> {
  const setting = pairList({
    label: 'Other conversions',
    placeholder,
    sublabel: 'Events that are conversions of another id, as pairs separated by commas.',
    value: id,
  });
  return {
    ...setting,
    read: (given, key) => new Map(setting.read(given, key).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** The id of the conversion that an event is, of the destination or one beside it; undefined where it is none. */
export function conversionIdOf(
  event: OutboundEvent,
  own: { readonly names: ReadonlySet<string>; readonly id: string },
  others: ReadonlyMap<string, string>,
): string | undefined {
  if (!acceptsCustomerEvents(event)) return undefined;
  const name = outboundName(event).trim().toLowerCase();
  return others.get(name) ?? (own.names.has(name) ? own.id : undefined);
}
