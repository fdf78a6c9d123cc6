import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { posthog } from './destination.ts';

const key = { projectApiKey: 'phc_1' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ event: '$identify', event_properties: {} }) };
const nameless = (event: OutboundEvent) => ({
  resolved: { ...event.resolved, visitor: { id: 'v1', custom_properties: {} } },
});
const batchOf = (events: readonly OutboundEvent[]) =>
  JSON.parse(posthog.prepare(key).buildRequest(events, 0).body ?? '').batch;

describe('PostHog', () => {
  it('track: a batch with the project key, distinct ids, and times in ISO 8601', () => {
    const request = posthog.prepare(key).buildRequest([track], 0);
    expect(request).toMatchObject({ method: 'POST', url: 'https://us.i.posthog.com/batch/' });
    expect(JSON.parse(request.body ?? '')).toEqual({
      api_key: 'phc_1',
      batch: [
        {
          event: 'Order Completed',
          uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
          distinct_id: 'customer-7',
          timestamp: '2023-11-14T22:13:20.000Z',
          properties: {
            $lib: 'sluice',
            order_id: 'A-1001',
            value: 42.5,
            currency: 'EUR',
            $current_url: 'https://shop.example.com/thanks?utm_source=mail',
            $ip: '203.0.113.7',
            $raw_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
            $set: { email: 'ada@example.com', first_name: 'Ada', plan: 'pro' },
          },
        },
      ],
    });
  });

  it('track: PostHog does not locate the visitor by the IP address of the request', () => {
    expect(batchOf([{ resolved: sampleEvent({ context: {} }) }])[0].properties).toMatchObject({ $geoip_disable: true });
    const mapped = { eventName: 'purchase', properties: { total: 1 } };
    expect(batchOf([{ ...track, mapped }])[0]).toMatchObject({
      event: 'purchase',
      properties: { $lib: 'sluice', $geoip_disable: true, total: 1 },
    });
  });

  it('track: without an external id, the visitor’s own id is the distinct id', () => {
    expect(batchOf([nameless(track)])[0].distinct_id).toBe('v1');
  });

  it('profiles: group and alias events have one, because PostHog drops them otherwise', () => {
    const settings = { ...key, personProfiles: 'identified' };
    const sent = [
      { resolved: sampleEvent({ event: '$group', event_properties: { group_id: 'g' } }) },
      { resolved: sampleEvent({ event: '$alias', event_properties: { previous_id: 'a', id: 'b' } }) },
      track,
    ].map(nameless);
    const { batch } = JSON.parse(posthog.prepare(settings).buildRequest(sent, 0).body ?? '');
    expect(
      batch.map(({ event, properties }: { event: string; properties: object }) => [
        event,
        '$process_person_profile' in properties,
      ]),
    ).toEqual([
      ['$groupidentify', false],
      ['$create_alias', false],
      ['Order Completed', true],
    ]);
  });

  it('identify: sets person properties and links the visitor’s earlier events to the person', () => {
    expect(batchOf([identify])[0]).toMatchObject({
      event: '$identify',
      distinct_id: 'customer-7',
      properties: {
        $anon_distinct_id: 'sample-visitor',
        $set: { email: 'ada@example.com', first_name: 'Ada', plan: 'pro' },
      },
    });
  });

  it('identify: without an external id, it only sets properties', () => {
    const [event] = batchOf([nameless(identify)]);
    expect(event).toMatchObject({ event: '$set', distinct_id: 'v1', properties: { $set: {} } });
    expect(event.properties).not.toHaveProperty('$anon_distinct_id');
  });

  it('track: page views get the name that PostHog’s web analytics counts', () => {
    expect(batchOf([{ resolved: sampleEvent({ event: 'Page Viewed' }) }])[0].event).toBe('$pageview');
  });

  it('answer: a project over its quota is retried much later, whatever the status', () => {
    const read = (body: unknown) =>
      posthog.prepare(key).readAnswer?.({ status: 200, headers: {}, body: JSON.stringify(body) }, [track, track]);
    const later = { kind: 'retry', reason: 'the project is over its quota', afterMs: 3_600_000, isThrottled: true };
    expect(read({ status: 1, quota_limited: ['events'] })).toEqual([later, later]);
    expect(read({ status: 1, quota_limited: ['recordings'] })).toBeUndefined();
    expect(read({ status: 1 })).toBeUndefined();
  });

  it('settings: the region or the base URL sets the host of requests', () => {
    const urlOf = (settings: Record<string, unknown>) => posthog.prepare(settings).buildRequest([track], 0).url;
    expect(urlOf({ ...key, region: 'EU' })).toBe('https://eu.i.posthog.com/batch/');
    expect(urlOf({ ...key, baseUrl: 'https://posthog.example.com' })).toBe('https://posthog.example.com/batch/');
  });
});
