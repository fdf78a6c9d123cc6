import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseState } from '../../routing/modifications/personal-data.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from './event.ts';
import type { SentEvent } from './event.ts';
import { knownPerson } from './person.ts';

/**
 * Whether an event is for limited use, so it may count as a conversion but not identify a person. Set by the event's
 * property `limited_data_use` (also by a mapping), otherwise by that property of the visitor's `consent`. Every
 * advertising kind sends the limit in its platform's own fields, whatever the property `consent` grants; if the platform
 * has no such fields, the kind skips the event or, if it attributes by click id, sends the click without the person.
 */
export function isLimited({ properties, visitor }: SentEvent): boolean {
  const given = properties[limitedDataUse];
  const { consent } = visitor;
  const isAbsent = given === undefined || given === null || (typeof given === 'string' && given.trim() === '');
  return isYes(isAbsent && isJsonObject(consent) ? consent[limitedDataUse] : given);
}

/**
 * Whether an event is the customer's own and for unlimited use. For advertising kinds whose platform has no fields for
 * limited use.
 */
export function acceptsUnlimitedEvents(event: OutboundEvent): boolean {
  return acceptsCustomerEvents(event) && !isLimited(sentEvent(event));
}

/** The property of an event, or of a visitor's `consent`, that limits the use. */
export const limitedDataUse = 'limited_data_use';

function isYes(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^\s*(true|yes|1)\s*$/i.test(value));
}

/**
 * Meta's fields, also used by Snap: `LDU` and the law that applies. 0 lets the platform determine
 * the place from the visitor's IP address. States with a number are sent explicitly, because the event
 * may lack an IP address. https://developers.facebook.com/docs/marketing-apis/data-processing-options
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

/**
 * The person's country and region in ISO 3166 codes: `US` and `US-CA`. The region is given only for the United States.
 */
export function placeOf(event: SentEvent): {
  readonly country: string | undefined;
  readonly region: string | undefined;
} {
  const { country: given, state } = knownPerson(event);
  const country = given === undefined ? undefined : countryCode(given)?.toUpperCase();
  const code = state === undefined || country !== 'US' ? undefined : textOf(normaliseState(state));
  return { country, region: code?.length === 2 ? `US-${code.toUpperCase()}` : undefined };
}
