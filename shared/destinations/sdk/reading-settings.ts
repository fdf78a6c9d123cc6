import { optionalText, matching } from './settings.ts';
import type { Setting } from './settings.ts';

const currencyCode = matching(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code such as EUR');

/**
 * The default currency setting, for events whose amounts have no currency. `assumed` is the value of
 * an empty setting: platforms that require a currency get the default of the event specification
 * (https://segment.com/docs/connections/spec/ecommerce/v2/). Other platforms use their account's
 * currency.
 */
export function defaultCurrency(): Setting<string | undefined>;
export function defaultCurrency(assumed: 'USD'): Setting<string>;
export function defaultCurrency(assumed?: 'USD'): Setting<string | undefined> {
  const rest =
    assumed === undefined ? 'if empty, the platform uses the currency of its account' : `if empty, ${assumed}`;
  const setting = optionalText(
    { label: 'Default currency', placeholder: 'EUR', sublabel: `For amounts whose event has no currency; ${rest}.` },
    (text, key) => currencyCode(text.trim(), key).toUpperCase(),
  );
  return { ...setting, read: (given, key) => setting.read(given, key) ?? assumed };
}

/**
 * A setting that names an event property: the id that a browser pixel sends for the same event, by which the platform
 * deduplicates.
 */
export function deduplicationProperty(): Setting<string | undefined> {
  return optionalText(
    {
      label: 'Deduplication property',
      placeholder: 'event_id',
      sublabel:
        "The property with the id that a browser pixel sends for the same event. If empty: event_id or eventId, else the event's own id.",
    },
    (text) => text.trim(),
  );
}

/** The settings of kinds whose platform deduplicates against a pixel and receives amounts. */
export const adSettings = {
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency(),
} as const;
