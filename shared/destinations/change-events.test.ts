import { expect, test } from 'vitest';
import { compileAllowedData } from '../routing/allowed-data.ts';
import { withLimitedData } from './limit-data.ts';
import { withLimitedUse } from './limit-use.ts';
import { withConsentMode } from './pass-consent.ts';
import { findDestinationKind } from './registry.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';
import { mappedProperties } from './sdk/event.ts';
import { sampleEventFor } from './sdk/sample-event.ts';

const nowMs = 1_700_000_001_000;

const withAllowList = (prepared: PreparedDestination): PreparedDestination => {
  const limit = compileAllowedData([{ name: '*', properties: ['email', 'value'] }]);
  if (limit === undefined) throw new Error('nothing is limited');
  return withLimitedData(prepared, limit);
};

test.each([
  ['an allow-list', withAllowList],
  ['limited use', withLimitedUse],
  ['consent mode', withConsentMode],
])('mapping: one that only renames the event does nothing else after %s', (_name, wrap) => {
  const { event, prepared } = renamed('Klaviyo', { consentMode: { ad_user_data: 'GRANTED' }, isLimited: true });
  const seen: (boolean | undefined)[] = [];
  const recording: PreparedDestination = {
    ...prepared,
    accepts: (given) => seen.push(mappedProperties(given) !== undefined) > 0,
  };
  wrap(recording).accepts?.(event);
  wrap(recording).accepts?.({ ...event, mapped: { eventName: 'Invited', properties: { value: 2 } } });
  expect(seen).toEqual([false, true]);
});

test.each([
  ['Klaviyo', '"external_id":"customer-7","email":"ada@example.com"'],
  ['Mixpanel', '203.0.113.7'],
  ['PostHog', '203.0.113.7'],
  ['Amplitude', '203.0.113.7'],
  ['GA4MeasurementProtocol', '"page_location":"https://shop.example.com/invite"'],
])('mapping: %s gets the visitor and context of an event that is only renamed, also with an allow-list', (id, text) => {
  const { event, prepared } = renamed(id, { consentMode: { ad_user_data: 'GRANTED' } });
  for (const one of [prepared, withAllowList(prepared)]) expect(one.buildRequest([event], nowMs).body).toContain(text);
});

/** A visitor's invitation of a friend, which a mapping renames. */
function renamed(id: string, more: Partial<OutboundEvent>) {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no kind ${id}`);
  const resolved = sampleEventFor(kind, {
    event: 'Friend Invited',
    event_properties: { email: 'friend@example.com', value: 1 },
  });
  const { event } = resolved;
  const context = { ...event.context, ip: '203.0.113.7', current_url: 'https://shop.example.com/invite' };
  const outbound: OutboundEvent = {
    resolved: { ...resolved, event: { ...event, context } },
    mapped: { eventName: 'Invited', properties: event.event_properties },
    ...more,
  };
  return { event: outbound, prepared: kind.prepare(kind.exampleSettings) };
}
