import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';

type Parts = {
  readonly event?: string;
  readonly id?: string;
  readonly time?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly visitor?: Readonly<Record<string, unknown>>;
};

/**
 * An event of a visitor who arrived from an ad and bought something, for tests of advertising
 * platforms.
 */
export function sampleShopper(parts: Parts = {}): OutboundEvent {
  const resolved = sampleEvent({
    id: parts.id ?? 'order-event-1',
    event: parts.event ?? 'Order Completed',
    ...(parts.time === undefined ? {} : { time: parts.time }),
    event_properties: parts.properties ?? {
      order_id: 'A-1001',
      value: 42.5,
      currency: 'eur',
      products: [{ product_id: 'tea-1', name: 'Tea', category: 'Drinks', brand: 'Leaf', price: 21.25, quantity: 2 }],
    },
    context: parts.context ?? {
      current_url: 'https://shop.example.com/thanks',
      referrer: 'https://shop.example.com/cart',
      ip: '203.0.113.7',
      user_agent: 'Example/1.0',
    },
  });
  const person = { last_name: 'Lovelace', phone_number: '+44 844 412 4653', country: 'United Kingdom' };
  return { resolved: { ...resolved, visitor: { ...resolved.visitor, ...person, ...parts.visitor } } };
}

/** The event with a property `visitor` that withholds the visitor's id. */
export function withoutId({ resolved }: OutboundEvent): OutboundEvent {
  const { event } = resolved;
  return {
    resolved: {
      ...resolved,
      event: { ...event, event_properties: { ...event.event_properties, visitor: { external_id: null } } },
    },
  };
}

/** An anonymous shopper without any identifiers. */
export function sampleStranger(event = 'Order Completed'): OutboundEvent {
  const { resolved } = sampleShopper({ event, context: {} });
  return { resolved: { ...resolved, visitor: { id: 'stranger', custom_properties: {} } } };
}
