import { expect, test } from 'vitest';
import type { RecentEvent } from '../api/types.ts';
import { eventPaths } from './event-paths.ts';

test('paths: lead to what the event and its visitor have, lists by their places', () => {
  const event = {
    eventProperties: { total: 5, items: [{ sku: 'a' }], ['x'.repeat(600)]: 1 },
    context: { current_url: 'https://shop.example.com' },
    visitor: { email: 'ada@example.com', custom_properties: { tier: 'gold' } },
  } as unknown as RecentEvent;
  expect(eventPaths(event).slice(4)).toEqual([
    'event.event_properties.total',
    'event.event_properties.items.0.sku',
    'event.context.current_url',
    'visitor.email',
    'visitor.custom_properties.tier',
  ]);
  const wide = { ...event, eventProperties: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, n])) };
  expect(eventPaths(wide).length).toBeLessThanOrEqual(300);
});
