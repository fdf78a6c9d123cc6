import { optionalText, matching } from './settings.ts';
import type { Setting } from './settings.ts';

const currencyCode = matching(/^[A-Za-z]{3}$/, 'must be a code of ISO 4217, such as EUR');

/**
 * The currency of amounts whose event names none. `assumed` is what they are in where the setting is not given: of
 * platforms that take no amount without a currency, the one that the specification of these events has
 * (https://segment.com/docs/connections/spec/ecommerce/v2/). Elsewhere the platform takes its account's.
 */
export function defaultCurrency(): Setting<string | undefined>;
export function defaultCurrency(assumed: 'USD'): Setting<string>;
export function defaultCurrency(assumed?: 'USD'): Setting<string | undefined> {
  const rest = assumed === undefined ? "without it the platform assumes its account's" : `without it ${assumed}`;
  const setting = optionalText(
    { label: 'Default currency', placeholder: 'EUR', sublabel: `Of amounts whose event has no currency; ${rest}.` },
    (text, key) => currencyCode(text.trim(), key).toUpperCase(),
  );
  return { ...setting, read: (given, key) => setting.read(given, key) ?? assumed };
}

/** The property that holds the id by which the platform knows an event that its pixel has sent as well. */
export function deduplicationProperty(): Setting<string | undefined> {
  return optionalText(
    {
      label: 'Deduplication property',
      placeholder: 'event_id',
      sublabel:
        "The property with the id that a pixel in the browser gives the same event. Without it event_id or eventId, else the event's own id.",
    },
    (text) => text.trim(),
  );
}

/** What kinds have whose platform compares events with those of a pixel and takes amounts. */
export const adSettings = {
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency(),
} as const;
