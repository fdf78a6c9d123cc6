import { outboundName } from './event.ts';
import type { OutboundEvent } from './destination.ts';
import { optionalText, SettingError } from './settings.ts';
import type { Setting } from './settings.ts';
import { standardEventOf } from './standard-events.ts';

const namesMax = 50;

/** Whether the platform should count an event. */
export type IsConversion = (event: OutboundEvent) => boolean;

/**
 * A setting that selects the conversions, for platforms that accept only conversions and give them no
 * name: each received event counts, and some platforms bill it. Defaults to purchases.
 */
export function conversionEvents(): Setting<IsConversion> {
  const setting = optionalText(
    {
      label: 'Conversion events',
      placeholder: 'Order Completed',
      sublabel: 'Names of the events to send as conversions, separated by commas. If empty, only purchases are sent.',
    },
    readNames,
  );
  return { ...setting, read: (given, key) => setting.read(given, key) ?? isPurchase };
}

function isPurchase(event: OutboundEvent): boolean {
  return standardEventOf(outboundName(event)) === 'purchase';
}

function readNames(text: string, key: string): IsConversion {
  const names = new Set(text.split(',').map((name) => name.trim().toLowerCase()));
  names.delete('');
  if (names.size === 0) throw new SettingError(key, 'must name at least one event');
  if (names.size > namesMax) throw new SettingError(key, `must name at most ${namesMax} events`);
  return (event) => names.has(outboundName(event).trim().toLowerCase());
}
