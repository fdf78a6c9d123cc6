import type { JsonObject } from '../../runtime/json.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { Commerce, CommerceItem } from '../sdk/commerce.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { baseUrl, matching, requiredSecret } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { neededIp } from '../sdk/visitor-headers.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const lineItemsMax = 100;

const settings = {
  pixelToken: requiredSecret(
    {
      label: 'Pixel token',
      placeholder: '32 hexadecimal digits',
      sublabel: 'From the web pixel, in Magellan AI or from your iHeartMedia contact.',
      example: '0123456789abcdef0123456789abcdef',
    },
    matching(/^[0-9a-f]{32}$/i, 'must be 32 hexadecimal digits'),
  ),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl('https://mgln.ai'),
};

/**
 * Magellan AI, iHeartMedia's podcast attribution: `POST /{view|product|addToCart|checkout|purchase|lead}`, one event
 * per request, with the pixel's token in the body, as Magellan AI's own integration in
 * https://github.com/segmentio/action-destinations (destinations/magellan-ai) sends it. A visitor is identified by
 * IPv4 address and browser; an event without them is refused, an event with another name skipped. There is no field
 * for the event time, so an event counts at the time of arrival. Orders are deduplicated by `id`.
 */
export const iHeartMediaMagellan = defineDestination({
  id: 'IHeartMediaMagellan',
  label: 'iHeartMedia Magellan AI',
  settings,
  facts: {
    sends: 'Events that Magellan AI has a name for, if they have an IP address and browser',
    limits: { events: 1 },
    deduplicatesBy: 'id',
    errors: 'status',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/magellan-ai',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).iHeartMediaMagellanPlatform,
  prepare,
});

const actionOf = platformEventNames('IHeartMediaMagellan');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  return {
    batchEventsMax: 1,
    accepts: (event) => acceptsUnlimitedEvents(event) && actionOf(sentEvent(event)) !== undefined,
    buildRequest(events) {
      const event = sentEvent(onlyEvent(events), given);
      const action = actionOf(event);
      if (action === undefined) throw new UnfitEventError('Magellan AI has no such event');
      const body = { token: given.pixelToken, ...client(event), ...detailsOf(action, event) };
      return postJson({ url: `${given.baseUrl}/${action}`, body, events });
    },
  };
}

function client(event: SentEvent): JsonObject {
  const { url, referrer, userAgent } = browserContext(event);
  const ip = neededIp(event, 'Magellan AI', 4);
  if (userAgent === undefined) throw new UnfitEventError("Magellan AI needs the visitor's User-Agent");
  return { ip, ua: userAgent, ...present({ url, ref: referrer }) };
}

/** The fields of an action besides the visitor's. Throws UnfitEventError if an amount or its currency is missing. */
function detailsOf(action: string, event: SentEvent): JsonObject {
  const commerce = commerceOf(event);
  const [item] = commerce.items;
  switch (action) {
    case 'view':
      return {};
    case 'product':
    case 'addToCart':
      return {
        ...money(action, { ...commerce, value: item?.price ?? commerce.value }),
        ...(item === undefined ? {} : productOf(item)),
        ...(action === 'addToCart' ? { quantity: item?.quantity ?? 1 } : {}),
      };
    case 'lead':
      return {
        ...money(action, { ...commerce, value: commerce.value ?? 0 }, 'USD'),
        id: commerce.orderId ?? event.deduplicationId,
      };
    default:
      return {
        ...money(action, commerce),
        id: commerce.orderId ?? event.deduplicationId,
        ...present({
          quantity: commerce.itemCount,
          discountCode: textOf(event.properties['coupon']),
          lineItems: commerce.items.slice(0, lineItemsMax).map((line) => ({
            ...productOf(line),
            value: line.price,
            quantity: line.quantity,
          })),
        }),
      };
  }
}

/** An amount with its currency. If the amount is 0 and its currency is not known, `otherwise` is used. */
function money(action: string, { value, currency }: Commerce, otherwise?: string): JsonObject {
  const known = currency ?? (value === 0 ? otherwise : undefined);
  if (value === undefined || known === undefined) {
    throw new UnfitEventError(`Magellan AI needs the value and currency of a ${action}`);
  }
  return { value, currency: known };
}

function productOf({ id, name, category, brand }: CommerceItem): JsonObject {
  return { productId: id, productName: name, productType: category, productVendor: brand };
}
