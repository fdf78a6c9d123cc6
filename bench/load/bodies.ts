import { slots } from './slots.ts';

/** Content of a bench event, similar to a shop server's; about 390 bytes as the body of a track. */
function eventFields() {
  return {
    event: 'Product Viewed',
    externalId: `customer-${slots.visitor}`,
    properties: {
      product_id: 'sku-48151',
      name: 'Walnut desk with two drawers',
      price: 249.5,
      currency: 'EUR',
      category: 'furniture/desks',
      sent_at: Number(slots.time),
    },
    defaultProperties: { current_url: 'https://shop.example/desks/walnut', referrer: 'https://search.example/' },
  };
}

/** Body of a track of a known visitor. */
export function trackBody(token: string): string {
  return JSON.stringify({ token, ...eventFields() });
}

export function newVisitorBody(token: string): string {
  return JSON.stringify({ token, ...eventFields(), externalId: `new-${slots.sequence}` });
}

export function batchBody(token: string, rows: number): string {
  const row = { distinctId: `row-${slots.sequence}`, ...eventFields() };
  return JSON.stringify({ token, events: Array.from({ length: rows }, () => row) });
}

/**
 * Times of an event and its request, as server libraries send them. Only their difference counts, so these times never
 * expire.
 */
const happened = '2026-11-22T12:00:00.000Z';
const sent = '2026-11-22T12:00:00.250Z';

/** A batch of bench events as the server libraries of Segment and RudderStack write it. */
export function specBody(token: string, rows: number): string {
  const { event, externalId, properties, defaultProperties } = eventFields();
  const { current_url: url, referrer } = defaultProperties;
  const row = {
    type: 'track',
    messageId: `row-${slots.sequence}`,
    event,
    userId: externalId,
    timestamp: happened,
    properties,
    context: { page: { url, referrer }, library: { name: 'bench', version: '1.0.0' } },
    integrations: {},
  };
  return JSON.stringify({ writeKey: token, batch: Array.from({ length: rows }, () => row), sentAt: sent });
}

/** A batch of bench events as PostHog's server libraries write it. */
export function posthogBody(token: string, rows: number): string {
  const { event, externalId, properties, defaultProperties } = eventFields();
  const context = { $current_url: defaultProperties.current_url, $referrer: defaultProperties.referrer, $lib: 'bench' };
  const row = {
    event,
    distinct_id: externalId,
    uuid: `row-${slots.sequence}`,
    timestamp: happened,
    properties: { ...properties, ...context },
  };
  return JSON.stringify({ api_key: token, batch: Array.from({ length: rows }, () => row), sent_at: sent });
}
