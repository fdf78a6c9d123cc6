import { normaliseText } from '../../routing/modifications/personal-data.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf, createEventNames } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { hashDatum, hashPerson, knownPerson } from '../sdk/person.ts';

/**
 * An event of Pinterest's API for Conversions; event types: https://developers.pinterest.com/docs/conversions/event/.
 * A name in Pinterest's own form (lower case, underscores) goes as it is, because advertisers define types of their own;
 * any other is `custom`. Throws UnfitEventError where the API's minimum of a person is missing.
 */
export function pinterestEvent(event: SentEvent, actionSource: string): JsonObject {
  const ownForm = /^[a-z][a-z0-9_]{0,63}$/.test(event.name) ? event.name : 'custom';
  return {
    event_name: standardName(event.name) ?? ownForm,
    action_source: actionSource,
    event_time: secondsOf(event),
    event_id: event.id,
    event_source_url: browserContext(event).url,
    user_data: userData(event),
    custom_data: customData(event.properties),
  };
}

const standardName = createEventNames(
  {
    pageView: 'page_visit',
    viewContent: 'page_visit',
    viewList: 'view_category',
    search: 'search',
    addToCart: 'add_to_cart',
    addToWishlist: 'add_to_wishlist',
    startCheckout: 'initiate_checkout',
    addPaymentInfo: 'add_payment_info',
    purchase: 'checkout',
    signUp: 'signup',
    lead: 'lead',
    subscribe: 'subscribe',
    startTrial: 'start_trial',
    contact: 'contact',
    schedule: 'schedule',
  },
  [
    'app_install',
    'app_open',
    'custom',
    'customize_product',
    'find_location',
    'submit_application',
    'view_content',
    'watch_video',
  ],
);

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  if (hashed.email === undefined && (ip === undefined || userAgent === undefined)) {
    throw new UnfitEventError('Pinterest needs an e-mail address, or both an IP address and a User-Agent');
  }
  return {
    ...present({
      em: listOf(hashed.email),
      ph: listOf(hashed.phone),
      ge: listOf(hashed.gender),
      db: listOf(hashed.dateOfBirth),
      // Names keep their punctuation here.
      ln: listOf(hashDatum(person.lastName, normaliseText)),
      fn: listOf(hashDatum(person.firstName, normaliseText)),
      ct: listOf(hashed.city),
      st: listOf(hashed.state),
      zp: listOf(hashed.zip),
      country: listOf(hashed.country),
      external_id: listOf(hashed.externalId),
      click_id: browserId(event, ['epik', '_epik']),
      client_ip_address: ip,
      client_user_agent: userAgent,
    }),
  };
}

/** Amounts are text: Pinterest reads them as numbers. */
function customData(properties: JsonObject): JsonObject | undefined {
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(properties);
  return present({
    currency,
    value: value?.toString(),
    content_ids: itemIds,
    content_name: textOf(properties['content_name']),
    content_category: textOf(properties['content_category']),
    contents: items.map(({ id, name, category, brand, price, quantity }) => ({
      id,
      item_name: name,
      item_category: category,
      item_brand: brand,
      item_price: price?.toString(),
      quantity,
    })),
    num_items: itemCount,
    order_id: orderId,
    search_string: searchText,
  });
}
