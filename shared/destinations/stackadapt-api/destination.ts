import type { JsonObject } from '../../runtime/json.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { defineDestination, onlyEvent } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { getWith } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { knownPerson, matchingId } from '../sdk/person.ts';
import { baseUrl, requiredText, toggle } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { neededIp, visitorHeaders } from '../sdk/visitor-headers.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';

const productsMax = 20;

const settings = {
  pixelId: requiredText({
    label: 'Universal pixel ID',
    placeholder: 'sqQHa3Ob1234567890abcd',
    sublabel: "The unique identifier in your account's pixel.",
    example: 'sqQHa3Ob1234567890abcd',
  }),
  contactData: toggle({
    label: 'Contact data',
    sublabel:
      'Sends e-mail address, phone number and name with events. StackAdapt accepts them in the URL only, which proxies may log.',
  }),
  baseUrl: baseUrl('https://tags.srv.stackadapt.com'),
};

/**
 * StackAdapt, universal pixel from a server: `GET /saq_pxl`, one event per request, without authentication, as
 * StackAdapt's own integration in https://github.com/segmentio/action-destinations (destinations/stackadapt) sends
 * it. Event properties go into `args`, which conversion rules can match. The visitor is identified by IP address and
 * browser, in the parameters and the headers. E-mail address and name, which would be in the URL, are sent only if a
 * setting permits it. There is no field for the event time, so an event counts at the time of arrival.
 */
export const stackAdaptApi = defineDestination({
  id: 'StackAdaptAPI',
  label: 'StackAdapt pixel API',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/stackadapt',
    ],
    checked: '2026-11-29',
    version: 'unversioned',
    namesElsewhere: [
      'StackAdapt Events & Conversions',
      'StackAdapt Cloud (Actions)',
      'StackAdapt - Actions',
      'StackAdapt',
    ],
  },
  loadPlatform: async () => (await import('./platform.ts')).stackAdaptApiPlatform,
  prepare,
});

const pageName = platformEventNames('StackAdaptAPI');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/saq_pxl`;
  return {
    batchEventsMax: 1,
    accepts: acceptsUnlimitedEvents,
    buildRequest(events) {
      const event = sentEvent(onlyEvent(events));
      const { url: page, referrer, userAgent } = browserContext(event);
      const query = {
        uid: given.pixelId.trim(),
        event_type: pageName(event) ?? 'track',
        title: textOf(event.context['title']),
        url: page,
        ref: referrer,
        ip_fwd: neededIp(event, 'StackAdapt'),
        ua_fwd: userAgent,
        args: JSON.stringify({ ...argsOf(event), ...(given.contactData ? contactOf(event) : {}) }),
      };
      return getWith({ url, query, headers: visitorHeaders(event), events });
    },
  };
}

function contactOf(event: SentEvent): JsonObject {
  const { email, phone, firstName, lastName } = knownPerson(event);
  return { ...present({ email, phone, first_name: firstName, last_name: lastName }) };
}

function argsOf(event: SentEvent): JsonObject {
  const { value, orderId, items } = commerceOf(event);
  const [only, ...others] = items;
  return {
    action: event.name,
    ...present({ utm_source: textOf(event.context['utm_source']), user_id: matchingId(event) }),
    ...present({ revenue: value, order_id: orderId }),
    ...(only !== undefined && others.length === 0 ? productOf(only) : {}),
    ...(others.length > 0 ? { products: items.slice(0, productsMax).map(productOf) } : {}),
  };
}

function productOf({ id, name, category, price, quantity }: CommerceItem): JsonObject {
  return {
    product_id: id,
    product_name: name,
    product_category: category,
    product_price: price,
    product_quantity: quantity,
  };
}
