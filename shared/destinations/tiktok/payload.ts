import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseLetters, normaliseState } from '../../routing/modifications/personal-data.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { hashDatum, hashPerson, isHash, knownPerson, e164Of, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/**
 * An event of TikTok's Events API. Standard events: https://ads.tiktok.com/help/article/standard-events-parameters; other
 * names are custom events. Throws UnfitEventError where nothing tells TikTok whose event it is.
 */
export function tiktokEvent(event: SentEvent): JsonObject {
  const { url, referrer } = browserContext(event);
  const lead = textOf(event.properties['lead_id']);
  return {
    event: standardName(event) ?? event.name,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    user: user(event),
    properties: properties(event) ?? {},
    page: present({ url, referrer }),
    limited_data_use: isLimited(event) ? true : undefined,
    lead: present({ lead_id: lead, lead_event_source: textOf(event.properties['lead_event_source']) }),
  };
}

const standardName = platformEventNames('TikTok');

function user(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const matched = present({
    email: listOf(hashed.email),
    phone: listOf(hashDatum(person.phone, e164Of(person))),
    external_id: listOf(hashedMatchingId(event)),
    ttclid: browserId(event, ['ttclid']),
    ttp: browserId(event, ['ttp', '_ttp']),
    ip,
  });
  if (matched === undefined) throw new UnfitEventError('the event says nothing of a person that TikTok could match');
  return {
    ...matched,
    ...present({
      user_agent: userAgent,
      locale: textOf(event.context['locale']) ?? textOf(event.context['browser_language']),
      first_name: hashed.firstName,
      last_name: hashed.lastName,
      zip_code: hashed.zip,
      // Places are taken in the clear.
      city: plain(person.city, normaliseLetters),
      state: plain(person.state, normaliseState),
      country: plain(person.country, countryCode),
    }),
  };
}

function properties(event: SentEvent): JsonObject | undefined {
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  return present({
    value,
    currency,
    order_id: orderId,
    content_type: textOf(event.properties['content_type']) ?? (items.length > 0 ? 'product' : undefined),
    content_ids: itemIds,
    contents: items.flatMap(({ id, name, category, brand, price, quantity }) =>
      id === undefined
        ? []
        : { content_id: id, content_name: name, content_category: category, brand, price, quantity },
    ),
    num_items: itemCount,
    search_string: searchText,
    ...Object.fromEntries(ownParameters.map((name) => [name, textOf(event.properties[name])])),
  });
}

/** Parameters of TikTok's that stand in the properties under the name they come by. */
const ownParameters = ['description', 'query', 'shop_id', 'status', 'content_name', 'content_category'] as const;

function plain(text: string | undefined, normalise: (text: string) => string | undefined): string | undefined {
  if (text === undefined || isHash(text)) return undefined;
  const form = normalise(text);
  return form === '' ? undefined : form;
}
