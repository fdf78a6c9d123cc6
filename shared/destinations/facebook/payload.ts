import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { checkAge, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { dataProcessingOptions } from '../sdk/limited-data-use.ts';
import { hashPerson, knownPerson } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/** Where an event may have happened, as Meta names it. */
export const facebookActionSources = [
  'website',
  'app',
  'phone_call',
  'chat',
  'email',
  'physical_store',
  'system_generated',
  'other',
] as const;

const daysMax = 7;
const daysMaxInStore = 62;

/**
 * An event of Meta's Conversions API. Standard events and their parameters:
 * https://developers.facebook.com/docs/meta-pixel/reference; other names are custom events. Throws UnfitEventError where
 * the API would refuse it, and with it every event of the same request.
 */
export function facebookEvent(event: SentEvent, standardSource: string, nowMs: number): JsonObject {
  const actionSource = actionSourceOf(event, standardSource);
  checkAge(event, nowMs, actionSource === 'physical_store' ? daysMaxInStore : daysMax);
  const name = standardName(event) ?? event.name;
  return {
    event_name: name,
    event_time: secondsOf(event),
    event_id: event.id,
    action_source: actionSource,
    event_source_url: browserContext(event).url,
    user_data: userData(event),
    custom_data: customData(event, name),
    ...dataProcessingOptions(event),
  };
}

/**
 * What the event says, else what the destination does. A website it is only with the page and the browser, both of which
 * Meta requires of one: what a server tells without them is `system_generated`.
 */
function actionSourceOf(event: SentEvent, standardSource: string): string {
  const given = textOf(event.properties['action_source'])?.toLowerCase();
  const named = facebookActionSources.find((source) => source === given);
  if (named !== undefined || standardSource !== 'website') return named ?? standardSource;
  const { url, userAgent } = browserContext(event);
  return url === undefined || userAgent === undefined ? 'system_generated' : standardSource;
}

const standardName = platformEventNames('Facebook');

function userData(event: SentEvent): JsonObject {
  const person = hashPerson(knownPerson(event));
  const { ip, userAgent } = browserContext(event);
  const data = {
    em: listOf(person.email),
    ph: listOf(person.phone),
    ln: listOf(person.lastName),
    external_id: listOf(person.externalId),
    client_ip_address: ip,
    fbc: clickCookie(event),
    fbp: browserId(event, ['fbp', '_fbp']),
    lead_id: textOf(event.properties['lead_id']),
  };
  // Alone, what is added below is too little to match anybody: the API refuses every combination of it.
  const enough = present(data);
  if (enough === undefined) throw new UnfitEventError('the event says nothing of a person that Meta could match');
  return {
    ...enough,
    ...present({
      fn: listOf(person.firstName),
      ge: listOf(person.gender),
      db: listOf(person.dateOfBirth),
      ct: listOf(person.city),
      st: listOf(person.state),
      zp: listOf(person.zip),
      country: listOf(person.country),
      client_user_agent: userAgent,
    }),
  };
}

/**
 * The value of the _fbc cookie, made of the click's id where that is nearer to the event than a cookie: version,
 * subdomain index, the time the click was first seen in ms, the id as it came.
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc
 */
function clickCookie(event: SentEvent): string | undefined {
  const cookieOrClick = browserId(event, ['fbc', '_fbc', 'fbclid']);
  if (cookieOrClick === undefined || /^fb\.\d\.\d+\./.test(cookieOrClick)) return cookieOrClick;
  return `fb.1.${Math.floor(event.timeMs)}.${cookieOrClick}`;
}

function customData(event: SentEvent, name: string): JsonObject | undefined {
  const { properties } = event;
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(properties);
  if (name === 'Purchase' && (value === undefined || currency === undefined)) {
    throw new UnfitEventError('a purchase needs a value and a currency');
  }
  return present({
    value,
    currency,
    order_id: orderId,
    content_ids: itemIds,
    content_type: textOf(properties['content_type']) ?? (itemIds.length > 0 ? 'product' : undefined),
    content_name: textOf(properties['content_name']),
    content_category: textOf(properties['content_category']),
    contents: items.flatMap(({ id, price, quantity }) => (id === undefined ? [] : { id, quantity, item_price: price })),
    num_items: itemCount,
    search_string: searchText,
    status: textOf(properties['status']),
  });
}
