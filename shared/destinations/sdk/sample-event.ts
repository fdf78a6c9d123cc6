import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import type { DestinationKind } from './destination.ts';

/** A resolved event with made-up content, for test deliveries and automated tests. */
export function sampleEvent(overrides: Partial<ResolvedEvent['event']> = {}): ResolvedEvent {
  return {
    v: 1,
    event: {
      id: 'sample-event-1',
      event: 'Order Completed',
      time: 1_700_000_000_000,
      received_at: 1_700_000_000_100,
      source_id: 'sample-source',
      account_id: 'sample-account',
      test: false,
      event_properties: { order_id: 'A-1001', value: 42.5, currency: 'EUR' },
      context: {
        current_url: 'https://shop.example.com/thanks?utm_source=mail',
        ip: '203.0.113.7',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      },
      ...overrides,
    },
    visitor: {
      id: 'sample-visitor',
      external_id: 'customer-7',
      email: 'ada@example.com',
      first_name: 'Ada',
      custom_properties: { plan: 'pro' },
    },
  };
}

/** A sample event with the properties that a kind's platform requires. */
export function sampleEventFor(
  { exampleProperties }: Pick<DestinationKind, 'exampleProperties'>,
  overrides: Partial<ResolvedEvent['event']> = {},
): ResolvedEvent {
  const sample = sampleEvent(overrides);
  if (exampleProperties === undefined) return sample;
  const event_properties = { ...exampleProperties, ...sample.event.event_properties };
  return { ...sample, event: { ...sample.event, event_properties } };
}
