import { defineClickPostback } from '../sdk/click-postback.ts';
import type { ClickConversion } from '../sdk/click-postback.ts';
import { arePriced } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { textOf } from '../sdk/event.ts';
import { baseUrl, requiredText } from '../sdk/settings.ts';

const itemsMax = 50;

const settings = {
  campaignId: requiredText({
    label: 'Campaign ID',
    placeholder: '1100l4000',
    sublabel: 'The campaign of the clicks.',
    example: '1100l4000',
  }),
  conversionEvents: conversionEvents(),
  baseUrl: baseUrl('https://prf.hn'),
};

/**
 * Partnerize, server-to-server conversions: a GET with a path of `key:value` segments, items in brackets, and the
 * click id (`clickref` of the landing page), without authentication, as sent by
 * https://github.com/webmasterjunkie/partnerize-gtm-s2s and https://hightouch.com/docs/destinations/partnerize.
 * `conversionref` is the order id, by which Partnerize deduplicates. Above 50 items only the
 * total is sent. A conversion counts at the time of arrival.
 */
export const partnerize = defineClickPostback({
  id: 'Partnerize',
  label: 'Partnerize server-to-server conversions',
  clickNames: ['clickref', 'partnerizeClickReference'],
  settings,
  facts: {
    sends: 'Conversions that have a click id',
    limits: { events: 1 },
    deduplicatesBy: 'conversionref',
    errors: 'status',
    sources: [
      'https://github.com/webmasterjunkie/partnerize-gtm-s2s',
      'https://hightouch.com/docs/destinations/partnerize',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).partnerizePlatform,
  accepts: (given, event) => given.conversionEvents(event),
  postback: (given, conversion) => ({
    url: `${given.baseUrl}/conversion/${pathOf(given.campaignId.trim(), conversion)}`,
  }),
});

function pathOf(campaign: string, { click, deduplicationId, properties, commerce }: ClickConversion): string {
  const { orderId, currency, value, items } = commerce;
  const head = parts({
    tracking_mode: 'api',
    campaign,
    clickref: click,
    conversionref: orderId ?? deduplicationId,
    currency,
    voucher: textOf(properties['coupon']),
  });
  const bodies = arePriced(items, itemsMax) ? items.map(itemParts) : [parts({ category: 'order', value, quantity: 1 })];
  return [head, ...bodies.map((body) => `[${body}]`)].join('/');
}

function itemParts({ id, category, price, quantity }: CommerceItem): string {
  return parts({ sku: id, category: category ?? 'order', value: price, quantity });
}

function parts(members: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(members)
    .flatMap(([name, value]) => (value === undefined || value === '' ? [] : `${name}:${encode(String(value))}`))
    .join('/');
}

/** Percent-encodes a value; lone surrogates are replaced first because encodeURIComponent throws on them. */
function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
