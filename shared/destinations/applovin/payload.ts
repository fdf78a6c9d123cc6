import type { JsonObject } from '../../runtime/json.ts';
import { isOfApp } from '../sdk/device.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { plainCountry } from '../sdk/capi-person.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { numberOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present } from '../sdk/json.ts';
import { hashPerson, knownPerson } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import type { NamedEvent } from '../sdk/standard-events.ts';

const standardName = platformEventNames('AppLovin');

const restrictedNames: ReadonlySet<string> = new Set(['page_view', 'generate_lead']);

/** AppLovin's name for an event; undefined if there is none, or if a restricted advertiser must not send the event. */
export function axonName(event: NamedEvent, restricted: boolean): string | undefined {
  const known = standardName(event);
  return known === undefined || !restricted || restrictedNames.has(known) ? known : undefined;
}

type Variant = { readonly restricted: boolean; readonly eventSource: string };

/**
 * An event of the Conversion API; its fields:
 * https://support.axon.ai/en/growth/promoting-your-websites/axon-pixel-integration/events-and-objects. Throws
 * UnfitEventError if a field is missing whose absence would make AppLovin refuse the whole request.
 */
export function axonEvent(event: SentEvent, { restricted, eventSource }: Variant): JsonObject {
  const name = axonName(event, restricted);
  if (name === undefined) throw new UnfitEventError('AppLovin has no such event');
  const { url } = browserContext(event);
  if (url === undefined) throw new UnfitEventError('AppLovin needs the page address');
  return {
    name,
    event_time: event.timeMs,
    event_source_url: restricted ? `${new URL(url).origin}/` : url,
    dedupe_id: event.deduplicationId,
    data: dataOf(event, name),
    user_data: userData(event, eventSource),
  };
}

/** Names of events that require products. */
const aboutGoods: ReadonlySet<string> = new Set([
  'view_item',
  'view_cart',
  'add_to_cart',
  'remove_from_cart',
  'begin_checkout',
  'purchase',
]);
/** Names of events that require an amount and its currency. */
const aboutMoney: ReadonlySet<string> = new Set(['begin_checkout', 'purchase', 'generate_lead']);

function dataOf(event: SentEvent, name: string): JsonObject | null {
  const { properties } = event;
  const { value, currency, orderId, items, searchText } = commerceOf(event);
  if (aboutGoods.has(name) && items.length === 0) throw new UnfitEventError(`AppLovin needs the products of a ${name}`);
  if (aboutMoney.has(name) && (value === undefined || currency === undefined)) {
    throw new UnfitEventError(`AppLovin needs the value and currency of a ${name}`);
  }
  if (name === 'search' && searchText === undefined) throw new UnfitEventError('AppLovin needs the search text');
  const goods = items.map(({ id, name: title, brand, price, quantity }) => ({
    item_id: id,
    item_name: title,
    item_brand: brand,
    price,
    quantity,
  }));
  const data = present({
    value,
    currency,
    items: aboutGoods.has(name) || name === 'add_payment_info' ? goods : undefined,
    search_term: name === 'search' ? searchText : undefined,
    method: name === 'sign_up' ? textOf(properties['method']) : undefined,
    ...(name === 'purchase'
      ? {
          transaction_id: orderId ?? event.deduplicationId,
          tax: numberOf(properties['tax']) ?? 0,
          shipping: numberOf(properties['shipping']) ?? 0,
        }
      : {}),
  });
  return data ?? null;
}

/**
 * IP address and User-Agent (both required), whether the event is from an app or the web, and the ids. E-mail address
 * and phone number are sent as SHA-256, the phone number without its plus. Throws UnfitEventError if IP address or
 * User-Agent is missing.
 */
function userData(event: SentEvent, eventSource: string): JsonObject {
  const person = knownPerson(event);
  const { email, phone } = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  if (ip === undefined || userAgent === undefined) {
    throw new UnfitEventError('AppLovin needs both an IP address and a User-Agent');
  }
  return {
    client_ip_address: ip,
    client_user_agent: userAgent,
    esi: eventSource === 'web' && isOfApp(event) ? 'app' : eventSource,
    client_id: event.visitor.id,
    ...present({
      aleid: browserId(event, ['aleid', '_axeid', 'axeid']),
      alart: browserId(event, ['alart', '_axart', 'axart']),
      axwrt: browserId(event, ['_axwrt', 'axwrt']),
      user_id: person.externalId,
      email,
      phone,
      country_code: plainCountry(event),
    }),
  };
}
