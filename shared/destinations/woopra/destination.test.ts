import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { woopra } from './destination.ts';

const prepared = woopra.prepare({ project: 'shop.example.com' });
const nowMs = 1_700_000_100_000;
const request = (event: OutboundEvent) => prepared.buildRequest([event], nowMs);
const bodyOf = (event: OutboundEvent) => JSON.parse(request(event).body ?? '') as Record<string, unknown>;

const visitor = {
  project: 'shop.example.com',
  host: 'shop.example.com',
  cookie: 'sample-visitor',
  cv_id: 'customer-7',
  cv_email: 'ada@example.com',
  timestamp: 1_700_000_000_000,
};

describe('Woopra', () => {
  it('mapping: one that only renames the event keeps the visitor, and one that withholds the id is followed', () => {
    const resolved = sampleEvent();
    const properties = resolved.event.event_properties;
    expect(bodyOf({ resolved, mapped: { eventName: 'bought', properties } })).toMatchObject(visitor);
    const withheld = { ...properties, visitor: { external_id: null } };
    expect(bodyOf({ resolved, mapped: { eventName: 'bought', properties: withheld } })).not.toHaveProperty('cv_id');
  });

  it('track: sends the event, its properties and the visitor', () => {
    const sent = request({ resolved: sampleEvent() });
    expect(sent).toMatchObject({
      method: 'POST',
      url: 'https://www.woopra.com/track/ce/',
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', 'content-type': 'application/json' },
    });
    expect(JSON.parse(sent.body ?? '')).toEqual({
      ...visitor,
      ip: '203.0.113.7',
      event: 'order_completed',
      ce_url: 'https://shop.example.com/thanks?utm_source=mail',
      ce_order_id: 'A-1001',
      ce_value: 42.5,
      ce_currency: 'EUR',
    });
  });

  it('identify: sends what is known about the visitor', () => {
    const identify = { resolved: sampleEvent({ event: '$identify' }) };
    expect(request(identify).url).toBe('https://www.woopra.com/track/identify/');
    expect(bodyOf(identify)).toEqual({ ...visitor, ip: '203.0.113.7', cv_first_name: 'Ada', cv_plan: 'pro' });
  });

  it('mapping: its output alone is sent', () => {
    const properties = { Title: 'Home', deep: { 'A b': [1, 'x', 'y'] }, cv_tier: 'gold' };
    const mapped = { eventName: 'pv', properties };
    const { cv_email: _email, ...known } = visitor;
    expect(bodyOf({ resolved: sampleEvent({ event: '$identify' }), mapped })).toEqual({
      ...known,
      event: 'pv',
      cv_tier: 'gold',
      ce_title: 'Home',
      ce_deep_a_b: 'x,y',
    });
  });

  it('names: are changed to what Woopra accepts', () => {
    expect(bodyOf({ resolved: sampleEvent({ event: '$experiment_impression' }) })['event']).toBe(
      'experiment_impression',
    );
    expect(() => bodyOf({ resolved: sampleEvent({ event: '$' }) })).toThrow('no name');
  });

  it('device id: a long visitor id is replaced by a short one, always the same', () => {
    const resolved = sampleEvent();
    const long = { resolved: { ...resolved, visitor: { ...resolved.visitor, id: 'x'.repeat(100) } } };
    expect(bodyOf(long)['cookie']).toMatch(/^[0-9a-f]{24}$/);
    expect(bodyOf(long)).toEqual(bodyOf(long));
  });

  it('prepare: a project that is not a domain is refused', () => {
    expect(() => woopra.prepare({ project: 'https://example.com/' })).toThrow('settings.project ');
  });

  it('time: a future time is replaced by the current one, since Woopra refuses it', () => {
    expect(bodyOf({ resolved: sampleEvent({ time: nowMs + 60_000 }) })['timestamp']).toBe(nowMs);
    expect(bodyOf({ resolved: sampleEvent({ time: nowMs - 60_000 }) })['timestamp']).toBe(nowMs - 60_000);
  });
});
