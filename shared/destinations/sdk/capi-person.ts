import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseText } from '../../routing/modifications/personal-data.ts';
import type { SentEvent } from './event.ts';
import { hashDatum, isHash, knownPerson } from './person.ts';

/** The visitor's country in the clear, by its ISO 3166-1 code in capitals. */
export function plainCountry(event: SentEvent): string | undefined {
  const { country } = knownPerson(event);
  return country === undefined || isHash(country) ? undefined : countryCode(country)?.toUpperCase();
}

/** A name as SHA-256 of its text in lower case, for platforms that leave its punctuation in. */
export function hashText(text: string | undefined): string | undefined {
  return hashDatum(text, normaliseText);
}
