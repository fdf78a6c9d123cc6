import { slots } from './slots.ts';

/** What an event of the bench carries, about 390 bytes as a track: what a shop's server sends. */
function eventFields(): object {
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

/** Body of a track. */
export function trackBody(token: string): string {
  return JSON.stringify({ token, ...eventFields() });
}

/** Body of a batch of `rows` events. */
export function batchBody(token: string, rows: number): string {
  const row = { distinctId: `row-${slots.sequence}`, ...eventFields() };
  return JSON.stringify({ token, events: Array.from({ length: rows }, () => row) });
}
