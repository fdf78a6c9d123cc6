import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseState } from '../../routing/modifications/personal-data.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from './event.ts';
import type { SentEvent } from './event.ts';
import { knownPerson } from './person.ts';

/**
 * Whether an event may be used in a limited way only: to count a conversion, not to know a person by. The property
 * `limited_data_use` says so, of the event (a mapping sets it, by whatever logic) or else of the visitor's `consent`.
 * Every advertising kind passes it on in the platform's own words; one whose platform has none is not sent the event.
 */
export function isLimited({ properties, visitor }: SentEvent): boolean {
  const given = properties[limitedDataUse];
  const { consent } = visitor;
  return isYes(given === undefined && isJsonObject(consent) ? consent[limitedDataUse] : given);
}

/**
 * Whether an event is the customer's own and may be used without limit: for advertising kinds whose platform has no words
 * for a limit.
 */
export function acceptsUnlimitedEvents(event: OutboundEvent): boolean {
  return acceptsCustomerEvents(event) && !isLimited(sentEvent(event));
}

/** The property that says it. */
export const limitedDataUse = 'limited_data_use';

function isYes(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^\s*(true|yes|1)\s*$/i.test(value));
}

/**
 * Meta's words, which Snap took over: `LDU`, and by which law. 0 has the platform find out by the address of the visitor;
 * the states it has numbers for are sent, because there may be no address.
 * https://developers.facebook.com/docs/marketing-apis/data-processing-options
 */
export function dataProcessingOptions(
  event: SentEvent,
  laws: ReadonlyMap<string, number> = californiaOnly,
): JsonObject {
  if (!isLimited(event)) return {};
  const law = laws.get(placeOf(event).region ?? '');
  return {
    data_processing_options: ['LDU'],
    data_processing_options_country: law === undefined ? 0 : 1,
    data_processing_options_state: law ?? 0,
  };
}

const californiaOnly: ReadonlyMap<string, number> = new Map([['US-CA', 1_000]]);

/** Where the person lives, as ISO 3166 has it: `US` and `US-CA`. The region of the United States only. */
export function placeOf(event: SentEvent): {
  readonly country: string | undefined;
  readonly region: string | undefined;
} {
  const { country: given, state } = knownPerson(event);
  const country = given === undefined ? undefined : countryCode(given)?.toUpperCase();
  const code = state === undefined || country !== 'US' ? undefined : textOf(normaliseState(state));
  return { country, region: code?.length === 2 ? `US-${code.toUpperCase()}` : undefined };
}
