import { describe, expect, it } from 'vitest';
import { contextOf, eventJson, propertiesOf, sentEvent, traitsOf } from './event.ts';
import { contactIds } from './person.ts';
import { sampleEvent } from './sample-event.ts';

const resolved = {
  ...sampleEvent(),
  visitor: { ...sampleEvent().visitor, phone_number: '+49 (30) 123-456', consent: { ads: true }, ip: '203.0.113.7' },
};
const mapped = {
  eventName: 'purchase',
  properties: { total: 1, visitor: { email: 'b@example.com', custom_properties: { tier: 2 } } },
};

describe('default payload', () => {
  it('traits: well-known and custom properties in one object, without ids, consent and address', () => {
    expect(traitsOf({ resolved })).toEqual({
      email: 'ada@example.com',
      first_name: 'Ada',
      phone_number: '+49 (30) 123-456',
      plan: 'pro',
    });
  });

  it('mapping: its output alone is sent', () => {
    const event = { resolved, mapped };
    expect(propertiesOf(event)).toEqual({ total: 1 });
    expect(traitsOf(event)).toEqual({ total: 1, email: 'b@example.com', tier: 2 });
    expect(contextOf(event)).toEqual({});
  });

  it('mapping: a mapping that only renames the event leaves everything else as it is', () => {
    const event = { resolved, mapped: { eventName: 'purchase', properties: resolved.event.event_properties } };
    expect(propertiesOf(event)).toEqual(resolved.event.event_properties);
    expect(contextOf(event)).toEqual(resolved.event.context);
    expect(traitsOf(event)).toEqual(traitsOf({ resolved }));
  });
});

describe('event as JSON', () => {
  const visitor = { ...resolved.visitor, company_name: 'Example', custom_properties: { plan: 'pro', tier: 1 } };
  const json = JSON.stringify({ event: resolved.event, visitor }).replace('"tier":1', '"tier":23851234567890123');
  const outbound = { resolved: { ...resolved, visitor }, json };
  const visitorIn = (text: string): unknown => (JSON.parse(text) as { visitor: unknown }).visitor;

  it('mapping: a member of its visitor replaces the stored one, null withholds it, and all other members are sent', () => {
    const own = { email: null, external_id: 'hashed', custom_properties: { plan: null, level: 2 } };
    const properties = { total: 1, visitor: own };
    const text = eventJson({ ...outbound, mapped: { eventName: 'purchase', properties, remake: () => properties } });
    const { email: _email, ...rest } = visitor;
    const custom_properties = { tier: Number('23851234567890123'), level: 2 };
    expect(visitorIn(text)).toEqual({ ...rest, external_id: 'hashed', custom_properties });
    expect(text).toContain('"tier":23851234567890123');
    expect(JSON.parse(text)).toMatchObject({ event: { event: 'purchase', event_properties: properties } });
  });

  it('mapping: one that only renames the event leaves the visitor as it is, whatever the properties are', () => {
    const properties = { visitor: { email: null } };
    const event = { ...resolved.event, event_properties: properties };
    const mapped = { eventName: 'purchase', properties };
    expect(visitorIn(eventJson({ resolved: { ...resolved, event }, mapped }))).toEqual(resolved.visitor);
  });
});

describe('event time', () => {
  it('is a whole number for kinds, and as received in the canonical event', () => {
    const timed = { ...resolved, event: { ...resolved.event, time: 1_700_000_000_000.75 } };
    expect(sentEvent({ resolved: timed }).timeMs).toBe(1_700_000_000_000);
    expect(eventJson({ resolved: timed })).toContain('"time":1700000000000.75,');
  });
});

describe('contact ids', () => {
  it('come from the visitor, with the phone number in E.164 form', () => {
    expect(contactIds({ resolved })).toEqual({
      visitorId: 'sample-visitor',
      externalId: 'customer-7',
      email: 'ada@example.com',
      phone: '+4930123456',
    });
    const local = { ...resolved, visitor: { ...resolved.visitor, phone_number: '030 123456' } };
    expect(contactIds({ resolved: local }).phone).toBeUndefined();
  });

  it('an e-mail address among the properties is not the visitor’s, unless a mapping sets it', () => {
    const invite = { ...resolved, event: { ...resolved.event, event_properties: { email: 'friend@example.com' } } };
    expect(contactIds({ resolved: invite }).email).toBe('ada@example.com');
    expect(contactIds({ resolved, mapped }).email).toBe('b@example.com');
    const withheld = { eventName: 'purchase', properties: { visitor: { email: null } } };
    expect(contactIds({ resolved, mapped: withheld }).email).toBeUndefined();
  });
});

describe('sentEvent', () => {
  const resolved = sampleEvent({ event_properties: { event_id: 'own', ref: 7 } });
  const mapped = { eventName: 'Purchase', properties: { event_id: 'of-mapping' } };

  it.each([
    [{ resolved }, {}, 'own'],
    [{ resolved }, { deduplicationProperty: 'ref' }, '7'],
    [{ resolved }, { deduplicationProperty: 'none' }, 'sample-event-1'],
    [{ resolved, mapped }, {}, 'of-mapping'],
    [{ resolved: sampleEvent({ event_properties: { event_id: 'x'.repeat(300) } }) }, {}, 'sample-event-1'],
  ])('sentEvent: is deduplicated by a property, a setting or a mapping, else by its id', (event, settings, id) => {
    expect(sentEvent(event, settings).deduplicationId).toBe(id);
  });
});
