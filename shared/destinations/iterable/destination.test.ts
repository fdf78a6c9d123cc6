import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { iterable } from './destination.ts';
import { iterablePlatform } from './platform.ts';

const key = { apiKey: 'key' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ id: 'i1', event: '$identify', event_properties: {} }) };
const visitedBy = (event: OutboundEvent, visitor: Record<string, unknown>) => ({
  resolved: { ...event.resolved, visitor: { id: 'v1', custom_properties: {}, ...visitor } },
});
const bodyOf = (events: readonly OutboundEvent[], settings: Record<string, unknown> = key) =>
  JSON.parse(iterable.prepare(settings).buildRequest(events, 0).body ?? '');
const answer = (body: unknown): OutboundAnswer => ({ status: 200, headers: {}, body: JSON.stringify(body) });

describe('Iterable', () => {
  it('track: rows with the event’s id and its time in seconds', () => {
    expect(iterable.prepare(key).buildRequest([track], 0)).toMatchObject({
      method: 'POST',
      url: 'https://api.iterable.com/api/events/trackBulk',
      headers: { 'api-key': 'key' },
    });
    expect(bodyOf([track])).toEqual({
      events: [
        {
          email: 'ada@example.com',
          eventName: 'Order Completed',
          id: 'sample-event-1',
          createdAt: 1_700_000_000,
          dataFields: { order_id: 'A-1001', value: 42.5, currency: 'EUR' },
        },
      ],
    });
  });

  it('track: a user has one key, the preferred key if it is known', () => {
    const byUserId = { ...key, identifyBy: 'userId' };
    expect(bodyOf([track], byUserId).events[0]).toMatchObject({ userId: 'customer-7' });
    expect(bodyOf([track], byUserId).events[0]).not.toHaveProperty('email');
    expect(bodyOf([visitedBy(track, { email: 'ada@example.com' })], byUserId).events[0]).toMatchObject({
      email: 'ada@example.com',
    });
    expect(bodyOf([visitedBy(track, { external_id: 'c1' })]).events[0]).toMatchObject({ userId: 'c1' });
  });

  it('device: an anonymous app event with a push token is unfit alone, and others are sent', () => {
    const prepared = iterable.prepare(key);
    const context = { device_token: 'abc', device_type: 'ios', app_namespace: 'com.example' };
    const opened = visitedBy({ resolved: sampleEvent({ event: 'Application Opened', context }) }, {});
    expect([prepared.accepts?.(opened), prepared.groupOf?.(opened)]).toEqual([true, expect.stringContaining('alone')]);
    expect(prepared.groupOf?.(track)).toBe('events');
    expect(() => prepared.buildRequest([opened], 0)).toThrow(UnfitEventError);
  });

  const products = [
    { product_id: 'tea-1', name: 'Tea', category: 'Drinks', price: 21.25, quantity: 2, colour: 'green' },
  ];
  const order = (own: Record<string, unknown> = {}, id = 'o1') => ({
    resolved: sampleEvent({ id, event_properties: { order_id: 'A-1', total: 42.5, products, ...own } }),
  });

  it('track: an order is sent as a purchase, in a request of its own', () => {
    const prepared = iterable.prepare(key);
    const [first, second] = [order(), order({}, 'o2')];
    expect(new Set([track, first, second].map((event) => prepared.groupOf?.(event))).size).toBe(3);
    expect(prepared.buildRequest([first], 0).url).toBe('https://api.iterable.com/api/commerce/trackPurchase');
    expect(bodyOf([first])).toEqual({
      id: 'A-1',
      user: { email: 'ada@example.com' },
      items: [
        {
          id: 'tea-1',
          name: 'Tea',
          price: 21.25,
          quantity: 2,
          categories: ['Drinks'],
          dataFields: { colour: 'green' },
        },
      ],
      total: 42.5,
      createdAt: 1_700_000_000,
      dataFields: { order_id: 'A-1', total: 42.5 },
    });
    expect(bodyOf([order({ order_id: undefined })])).toMatchObject({ id: 'o1' });
  });

  it('track: a purchase or a cart of a user without an e-mail address creates the user', () => {
    const cart = { resolved: sampleEvent({ event: 'Product Added', event_properties: products[0] ?? {} }) };
    for (const event of [order(), cart]) {
      const request = iterable.prepare(key).buildRequest([visitedBy(event, { external_id: 'c1' })], 0);
      expect(request.url).toContain('/api/commerce/');
      const body = JSON.parse(request.body ?? '');
      expect(body.user).toEqual({ userId: 'c1', preferUserId: true });
      expect(iterablePlatform.judge(request, { nowMs: 0 }).problems).toEqual([]);
      const without = JSON.stringify({ ...body, user: { userId: 'c1' } });
      expect(iterablePlatform.judge({ ...request, body: without }, { nowMs: 0 }).problems).toHaveLength(1);
    }
  });

  it.each([
    { products: [] },
    { products: [{ product_id: 'a' }] },
    { total: 'much', products: [{ product_id: 'a', name: 'b' }] },
  ])('track: an order with %j misses what a purchase needs and stays a custom event', (own) => {
    expect(bodyOf([order(own)])).toMatchObject({ events: [{ eventName: 'Order Completed' }] });
  });

  it('identify: updates users, in a request of its own', () => {
    const prepared = iterable.prepare(key);
    expect(prepared.groupOf?.(identify)).not.toBe(prepared.groupOf?.(track));
    expect(prepared.buildRequest([identify], 0).url).toBe('https://api.iterable.com/api/users/bulkUpdate');
    expect(bodyOf([identify])).toEqual({
      users: [{ email: 'ada@example.com', dataFields: { firstName: 'Ada', plan: 'pro', userId: 'customer-7' } }],
    });
    expect(bodyOf([identify], { ...key, identifyBy: 'userId' })).toEqual({
      users: [
        {
          userId: 'customer-7',
          preferUserId: true,
          dataFields: { firstName: 'Ada', plan: 'pro', email: 'ada@example.com' },
        },
      ],
    });
  });

  it('unfit: a visitor with neither an e-mail address nor a user id', () => {
    expect(() => bodyOf([visitedBy(track, {})])).toThrow(UnfitEventError);
    expect(() => bodyOf([visitedBy(identify, {})])).toThrow(UnfitEventError);
  });

  it('settings: the region decides the address', () => {
    const request = iterable.prepare({ ...key, region: 'EU' }).buildRequest([track], 0);
    expect(request.url).toBe('https://api.eu.iterable.com/api/events/trackBulk');
    expect(() => iterable.prepare({ ...key, identifyBy: 'name' })).toThrow('settings.identifyBy ');
  });

  it('answer: events of failed users and with disallowed names are refused, the others were delivered', () => {
    const other = visitedBy(track, { email: 'b@example.com' });
    const named = { resolved: { ...other.resolved, event: { ...other.resolved.event, event: 'Forbidden' } } };
    const body = {
      successCount: 1,
      failCount: 2,
      failedUpdates: { invalidEmails: ['ada@example.com'], invalidUserIds: [] },
      disallowedEventNames: ['Forbidden'],
    };
    expect(iterable.prepare(key).readAnswer?.(answer(body), [track, other, named])).toEqual([
      { kind: 'reject', reason: 'row refused: invalidEmails' },
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: disallowedEventNames' },
    ]);
  });

  it('answer: if it counts failures without naming them, events are tried again, in smaller requests', () => {
    const prepared = iterable.prepare(key);
    expect(prepared.readAnswer?.(answer({ successCount: 0, failCount: 1 }), [track])).toMatchObject([
      { kind: 'retry', unnamed: 'any' },
    ]);
    const body = { successCount: 0, failCount: 2, disallowedEventNames: ['Order Completed'] };
    const other = { resolved: sampleEvent({ event: 'Other' }) };
    expect(prepared.readAnswer?.(answer(body), [track, other])).toMatchObject([{ kind: 'reject' }, { kind: 'retry' }]);
    const some = { kind: 'retry', reason: 'row refused: failCount', unnamed: 'some' };
    expect(prepared.readAnswer?.(answer({ successCount: 1, failCount: 1 }), [track, other])).toEqual([some, some]);
    expect(prepared.readAnswer?.(answer({ successCount: 1, failCount: 0 }), [track])).toBeUndefined();
  });
});
