import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { customerio } from './destination.ts';

const keys = { siteId: 'site', apiKey: 'key' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ event: '$identify', event_properties: {} }) };
const knownAs = (event: OutboundEvent, ids: Record<string, string>) => ({
  resolved: { ...event.resolved, visitor: { id: 'v1', custom_properties: {}, ...ids } },
});
const batchOf = (...events: readonly OutboundEvent[]) =>
  JSON.parse(customerio.prepare(keys).buildRequest(events, 0).body ?? '').batch;
const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('Customer.io', () => {
  it('track: a person’s event with a ULID and its time in seconds', () => {
    const request = customerio.prepare(keys).buildRequest([track], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://track.customer.io/api/v2/batch',
      headers: { authorization: `Basic ${Buffer.from('site:key').toString('base64')}` },
    });
    expect(batchOf(track)).toEqual([
      {
        type: 'person',
        action: 'event',
        identifiers: { id: 'customer-7' },
        id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
        name: 'Order Completed',
        timestamp: 1_700_000_000,
        attributes: { order_id: 'A-1001', value: 42.5, currency: 'EUR' },
      },
    ]);
  });

  it('track: identifies the person by e-mail address, else by an anonymous id', () => {
    const rows = batchOf(knownAs(track, { email: 'ada@example.com' }), knownAs(track, {}));
    expect(rows.map(({ identifiers }: { identifiers: unknown }) => identifiers)).toEqual([
      { email: 'ada@example.com' },
      { anonymous_id: 'v1' },
    ]);
  });

  it('identify: sends attributes of the person, and the anonymous id that connects earlier events', () => {
    expect(batchOf(identify, track)[0]).toEqual({
      type: 'person',
      action: 'identify',
      identifiers: { id: 'customer-7' },
      attributes: { email: 'ada@example.com', first_name: 'Ada', plan: 'pro', anonymous_id: 'sample-visitor' },
    });
  });

  it('identify: unfit for a visitor without an id', () => {
    expect(() => batchOf(knownAs(identify, {}))).toThrow(UnfitEventError);
  });

  it('settings: the region decides the address', () => {
    const request = customerio.prepare({ ...keys, region: 'EU' }).buildRequest([track], 0);
    expect(request.url).toBe('https://track-eu.customer.io/api/v2/batch');
  });

  it('answer: rows that a 207 does not name were delivered', () => {
    const errors = [{ batch_index: 1, reason: 'invalid', field: 'identifiers', message: 'quotes the event' }];
    expect(customerio.prepare(keys).readAnswer?.(answer(207, { errors }), [track, track])).toEqual([
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: invalid: identifiers' },
    ]);
    expect(customerio.prepare(keys).readAnswer?.(answer(200, {}), [track])).toBeUndefined();
    expect(customerio.prepare(keys).readAnswer?.(answer(400, { errors }), [track])).toBeUndefined();
  });
});
