import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { amountOf, commerceOf } from '../sdk/commerce.ts';
import { deviceOf } from '../sdk/device.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { numberOf, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present } from '../sdk/json.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { e164Of, hashDatum, knownPerson, normaliseEmail } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/**
 * An event of the UET Conversions API,
 * https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration. Throws UnfitEventError if the
 * event has no identifier that Microsoft could match.
 */
export function uetEvent(event: SentEvent, consent: string): JsonObject {
  const name = standardName(event) ?? event.name;
  const isPageLoad = name === 'pageLoad';
  const { url, referrer } = browserContext(event);
  return {
    eventType: isPageLoad ? 'pageLoad' : 'custom',
    eventId: event.deduplicationId,
    eventName: isPageLoad ? undefined : name,
    eventTime: secondsOf(event),
    eventSourceUrl: url,
    referrerUrl: referrer,
    pageTitle: textOf(event.context['title']),
    pageLoadId: browserId(event, ['page_load_id', 'pageLoadId']),
    keywords: textOf(event.properties['keywords']),
    adStorageConsent: consentOf(event) ?? consent,
    userData: userData(event),
    customData: customData(event),
  };
}

const standardName = platformEventNames('BingAds');

function consentOf(event: SentEvent): 'G' | 'D' | undefined {
  const given = event.properties['consent'];
  const storage = isJsonObject(given) ? given['ad_storage'] : undefined;
  if (storage === 'DENIED' || isLimited(event)) return 'D';
  return storage === 'GRANTED' ? 'G' : undefined;
}

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const { platform, advertisingId } = deviceOf(event);
  const { ip, userAgent } = browserContext(event);
  const keys = present({
    em: hashDatum(person.email, microsoftEmail),
    ph: hashDatum(person.phone, e164Of(person)),
    msclkid: browserId(event, ['msclkid', '_uetmsclkid']),
    // The id is hashed because Microsoft must never receive an id of another platform.
    externalId: hashDatum(person.externalId, (text) => text.trim()),
    idfa: platform === 'ios' ? advertisingId : undefined,
    gaid: platform === 'android' ? advertisingId : undefined,
  });
  const hasBrowser = ip !== undefined && userAgent !== undefined;
  if (keys === undefined && !hasBrowser) {
    throw new UnfitEventError('the event has no identifier that Microsoft could match');
  }
  return {
    anonymousId: browserId(event, ['_uetvid']) ?? event.visitor.id,
    ...keys,
    ...present({ clientIpAddress: ip, clientUserAgent: userAgent }),
  };
}

/**
 * The normalised e-mail address. From the part before the @, dots are removed, and a plus with all that follows it.
 * Undefined if nothing is left.
 */
function microsoftEmail(text: string): string | undefined {
  const email = normaliseEmail(text);
  if (email === undefined) return undefined;
  const at = email.lastIndexOf('@');
  const user = email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '');
  return user === '' ? undefined : user + email.slice(at);
}

/** The page types that Microsoft accepts. */
const pageTypes = ['home', 'product', 'category', 'searchresults', 'cart', 'purchase', 'other'] as const;

function customData(event: SentEvent): JsonObject | undefined {
  const { properties } = event;
  const { value, currency, orderId, items, itemIds, searchText } = commerceOf(event);
  return present({
    value,
    currency,
    transactionId: orderId,
    itemIds,
    items: items.flatMap(({ id, name, price, quantity }) => (id === undefined ? [] : { id, name, price, quantity })),
    searchTerm: searchText,
    eventValue: numberOf(properties['event_value']),
    eventCategory: textOf(properties['event_category']),
    eventLabel: textOf(properties['event_label']),
    pageType: pageTypes.find((type) => type === properties['page_type']),
    ecommTotalValue: numberOf(properties['ecomm_total_value']),
    ecommCategory: textOf(properties['ecomm_category']),
    hotelData: hotelData(properties),
  });
}

/** Booking fields, from properties named as in Segment's action (`hotel_…`) or as in the UET tag (`hct_…`). */
function hotelData(properties: JsonObject): JsonObject | undefined {
  const given = (name: string, ofTag: string): unknown => properties[`hotel_${name}`] ?? properties[`hct_${ofTag}`];
  return present({
    totalPrice: amountOf(given('total_price', 'total_price')),
    basePrice: amountOf(given('base_price', 'base_price')),
    checkInDate: dateOf(given('check_in_date', 'checkin_date')),
    checkOutDate: dateOf(given('check_out_date', 'checkout_date')),
    lengthOfStay: numberOf(given('length_of_stay', 'length_of_stay')),
    partnerHotelId: textForm(given('partner_id', 'partner_hotel_id')),
    bookingHref: textForm(given('booking_href', 'booking_xref')),
  });
}

/** The date at the start of a text, as `YYYY-MM-DD`. */
const dateOf = (value: unknown): string | undefined => /^\d{4}-\d\d-\d\d/.exec(textOf(value) ?? '')?.[0];
