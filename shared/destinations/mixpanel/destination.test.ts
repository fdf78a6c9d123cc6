import { describe, expect, it } from 'vitest';
import { acceptsAll } from '../sdk/answers.ts';
import type { OutboundAnswer } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { mixpanel } from './destination.ts';

const token = { projectToken: 'tok' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ event: '$identify', event_properties: { plan: 'pro' } }) };
const bodyOf = (settings: Record<string, unknown>, events = [track]): unknown =>
  JSON.parse(mixpanel.prepare(settings).buildRequest(events, 0).body ?? '');
const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('Mixpanel', () => {
  it('track: rows of the import endpoint, with the project token as user name', () => {
    const request = mixpanel.prepare(token).buildRequest([track], 0);
    expect(request).toMatchObject({ method: 'POST', url: 'https://api.mixpanel.com/import?strict=1' });
    expect(request.headers['authorization']).toBe(`Basic ${Buffer.from('tok:').toString('base64')}`);
    expect(bodyOf(token)).toEqual([
      {
        event: 'Order Completed',
        properties: {
          order_id: 'A-1001',
          value: 42.5,
          currency: 'EUR',
          $current_url: 'https://shop.example.com/thanks?utm_source=mail',
          ip: '203.0.113.7',
          time: 1_700_000_000_000,
          distinct_id: 'customer-7',
          $device_id: 'sample-visitor',
          $user_id: 'customer-7',
          $insert_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      },
    ]);
  });

  it('track: a service account signs in for its project, in its region', () => {
    const settings = {
      ...token,
      region: 'EU',
      serviceAccountUsername: 'a',
      serviceAccountSecret: 's',
      projectId: '12',
    };
    const request = mixpanel.prepare(settings).buildRequest([track], 0);
    expect(request.url).toBe('https://api-eu.mixpanel.com/import?strict=1&project_id=12');
    expect(request.headers['authorization']).toBe(`Basic ${Buffer.from('a:s').toString('base64')}`);
  });

  it('track: an unidentified visitor is known by a device id, and its IP address is not looked up', () => {
    const resolved = { ...sampleEvent({ context: {} }), visitor: { id: 'v1', custom_properties: {} } };
    const rows = bodyOf(token, [{ resolved }]);
    expect(rows).toMatchObject([{ properties: { distinct_id: '$device:v1', $device_id: 'v1', ip: 0 } }]);
    expect(rows).not.toHaveProperty('0.properties.$user_id');
  });

  it('track: a mapping alone decides what is sent', () => {
    const mapped = { eventName: 'Purchase', properties: { total: 1 } };
    const [row] = JSON.parse(mixpanel.prepare(token).buildRequest([{ ...track, mapped }], 0).body ?? '');
    expect(row.event).toBe('Purchase');
    expect(Object.keys(row.properties).toSorted()).toEqual(
      ['$device_id', '$insert_id', '$user_id', 'distinct_id', 'ip', 'time', 'total'].toSorted(),
    );
    expect(row.properties).toMatchObject({ ip: 0, total: 1 });
  });

  it('identify: sets the profile, in a request of its own', () => {
    const prepared = mixpanel.prepare(token);
    expect(prepared.groupOf?.(identify)).not.toBe(prepared.groupOf?.(track));
    const request = prepared.buildRequest([identify], 0);
    expect(request.url).toBe('https://api.mixpanel.com/engage?ip=0&strict=1&verbose=1');
    expect(request.headers['authorization']).toBeUndefined();
    expect(bodyOf(token, [identify])).toEqual([
      {
        $token: 'tok',
        $distinct_id: 'customer-7',
        $set: { $email: 'ada@example.com', $first_name: 'Ada', plan: 'pro' },
      },
    ]);
  });

  it('identify: is skipped if it has no properties', () => {
    const resolved = { ...identify.resolved, visitor: { id: 'v', custom_properties: {} } };
    expect(mixpanel.prepare(token).accepts?.({ resolved })).toBe(false);
    expect(mixpanel.prepare(token).accepts?.(identify)).toBe(true);
    expect(mixpanel.prepare(token).accepts?.(track)).toBe(true);
  });

  it('answer: rows that a 400 does not name were delivered', () => {
    const body = {
      code: 400,
      num_records_imported: 1,
      failed_records: [{ index: 1, $insert_id: 'x', field: 'properties.time', message: 'quotes ada@example.com' }],
    };
    expect(mixpanel.prepare(token).readAnswer?.(answer(400, body), [track, track])).toEqual([
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: properties.time' },
    ]);
  });

  it('answer: the profile endpoint reports a refusal in the body of a 200', () => {
    const prepared = mixpanel.prepare(token);
    const refused = [{ kind: 'reject', reason: 'row refused', unnamed: 'any' }];
    expect(prepared.readAnswer?.(answer(200, { status: 0, error: 'invalid' }), [identify])).toEqual(refused);
    expect(prepared.readAnswer?.(answer(200, 0), [identify])).toEqual(refused);
    expect(prepared.readAnswer?.(answer(200, { status: 1, error: null }), [identify])).toBeUndefined();
  });

  it('answer: without a refused row the status decides', () => {
    const prepared = mixpanel.prepare(token);
    expect(prepared.readAnswer?.(answer(400, { error: 'malformed' }), [track])).toBeUndefined();
    expect(prepared.readAnswer?.(answer(400, { failed_records: [{ index: 9 }] }), [track])).toBeUndefined();
    expect(prepared.readAnswer?.(answer(429, {}), [track])).toBeUndefined();
    expect(prepared.readAnswer?.(answer(200, { code: 200, status: 'OK' }), [track])).toBeUndefined();
  });

  it('original id merge: an identify is sent alone, and its ids are merged after the profile', () => {
    const prepared = mixpanel.prepare({ ...token, identityMerge: 'original' });
    const { next, ...profile } = prepared.buildRequest([identify], 0);
    expect(profile.url).toContain('/engage?');
    expect(next?.url).toBe('https://api.mixpanel.com/import?strict=1');
    expect(acceptsAll(prepared, [identify])(answer(200, { status: 0 }))).toBe(false);
    expect(acceptsAll(prepared, [identify])(answer(200, { status: 1 }))).toBe(true);
    expect(JSON.parse(next?.body ?? '')).toEqual([
      { event: '$merge', properties: { $distinct_ids: ['customer-7', 'sample-visitor'] } },
    ]);
    expect(prepared.groupOf?.(identify)).not.toBe(
      prepared.groupOf?.({ resolved: sampleEvent({ id: 'other', event: '$identify' }) }),
    );
    const stranger = { resolved: { ...identify.resolved, visitor: { id: 'v', custom_properties: { plan: 'pro' } } } };
    expect(prepared.buildRequest([stranger], 0).next).toBeUndefined();
    const unknown = {
      resolved: { ...identify.resolved, visitor: { id: 'v', external_id: 'c', custom_properties: {} } },
    };
    expect(prepared.accepts?.(unknown)).toBe(true);
    expect(prepared.buildRequest([unknown], 0).url).toContain('/import?');
    expect(mixpanel.prepare(token).accepts?.(unknown)).toBe(false);
  });

  it.each([
    ['projectId', { ...token, serviceAccountUsername: 'a', serviceAccountSecret: 's' }],
    ['serviceAccountSecret', { ...token, serviceAccountUsername: 'a', projectId: '1' }],
    ['projectId', { ...token, serviceAccountUsername: 'a', serviceAccountSecret: 's', projectId: 'x' }],
    ['region', { ...token, region: 'MARS' }],
    ['batchSize', { ...token, batchSize: '2001' }],
    ['baseUrl', { ...token, baseUrl: 'ftp://example.com' }],
  ])('prepare: refuses a bad %s', (key, settings) => {
    expect(() => mixpanel.prepare(settings)).toThrow(`settings.${key} `);
  });
});
