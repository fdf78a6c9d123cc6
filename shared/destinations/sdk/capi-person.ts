import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseText } from '../../routing/modifications/personal-data.ts';
import type { SentEvent } from './event.ts';
import { hashDatum, isHash, knownPerson } from './person.ts';

/** The visitor's country, unhashed, as an ISO 3166-1 code in capitals. */
export function plainCountry(event: SentEvent): string | undefined {
  const { country } = knownPerson(event);
  return country === undefined || isHash(country) ? undefined : countryCode(country)?.toUpperCase();
}

/** SHA-256 of a name in lower case, for platforms that keep punctuation. */
export function hashText(text: string | undefined): string | undefined {
  return hashDatum(text, normaliseText);
}
