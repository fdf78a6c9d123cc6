import { countryCode } from '../../routing/modifications/countries.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { checkAge } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { hashDatum, isHash, knownPerson, normaliseEmail } from '../sdk/person.ts';
import type { KnownPerson } from '../sdk/person.ts';

const daysMax = 90;

/**
 * An event of LinkedIn's Conversions API for one conversion rule,
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api. Throws
 * UnfitEventError if the event is too old or has no identifier that LinkedIn could match.
 */
export function linkedinEvent(event: SentEvent, conversion: string, nowMs: number): JsonObject {
  checkAge(event, nowMs, daysMax);
  const { value, currency } = commerceOf(event);
  return {
    conversion,
    conversionHappenedAt: event.timeMs,
    conversionValue:
      value === undefined || currency === undefined ? undefined : { currencyCode: currency, amount: value.toString() },
    user: user(event),
    eventId: event.deduplicationId,
  };
}

const partnerIds = [
  ['ACXIOM_ID', ['acxiom_id', 'acxiomID']],
  ['ORACLE_MOAT_ID', ['oracle_moat_id', 'moatID']],
] as const;

function user(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const email = hashDatum(person.email, normaliseEmail);
  const click = browserId(event, ['li_fat_id']);
  const userIds = [
    ...(email === undefined ? [] : [{ idType: 'SHA256_EMAIL', idValue: email }]),
    ...(click === undefined ? [] : [{ idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: click }]),
    ...partnerIds.flatMap(([idType, names]) => {
      const id = browserId(event, names);
      return id === undefined ? [] : [{ idType, idValue: id }];
    }),
  ];
  const info = userInfo(person);
  if (userIds.length === 0 && info === undefined) {
    throw new UnfitEventError('LinkedIn needs an e-mail address, its click id, or a first and a last name');
  }
  // LinkedIn requires the list `userIds`, even if it is empty because the event has only names.
  return { userIds, userInfo: info };
}

/**
 * The person's name, work and country, unhashed; undefined unless both names are known, because LinkedIn cannot match a
 * person without them.
 */
function userInfo({ firstName, lastName, jobTitle, companyName, country }: KnownPerson): JsonObject | undefined {
  if (firstName === undefined || lastName === undefined || isHash(firstName) || isHash(lastName)) return undefined;
  return {
    firstName,
    lastName,
    title: jobTitle,
    companyName,
    countryCode: country === undefined ? undefined : countryCode(country)?.toUpperCase(),
  };
}
