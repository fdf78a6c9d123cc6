import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, OutboundRequest } from '../sdk/destination.ts';
import { sendInTurn } from '../../egress/send-in-turn.ts';
import type { SendResult } from '../../egress/sender.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { hubspot } from './destination.ts';
import { hubspotPlatform } from './platform.ts';

const settings = { accessToken: 'pat-1', hubId: '123' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ event: '$identify', event_properties: {} }) };
const visitedBy = (event: OutboundEvent, visitor: Record<string, unknown>) => ({
  resolved: { ...event.resolved, visitor: { id: 'v1', custom_properties: {}, ...visitor } },
});
const inputsOf = (events: readonly OutboundEvent[], given: Record<string, unknown> = settings) =>
  JSON.parse(hubspot.prepare(given).buildRequest(events, 0).body ?? '').inputs;
const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('HubSpot', () => {
  it('track: custom events of a contact, with text values', () => {
    expect(hubspot.prepare(settings).buildRequest([track], 0)).toMatchObject({
      method: 'POST',
      url: 'https://api.hubapi.com/events/2026-09/send/batch',
      headers: { authorization: 'Bearer pat-1' },
    });
    expect(inputsOf([track])).toEqual([
      {
        eventName: 'pe123_order_completed',
        email: 'ada@example.com',
        occurredAt: '2023-11-14T22:13:20.000Z',
        uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
        properties: { order_id: 'A-1001', value: '42.5', currency: 'EUR' },
      },
    ]);
  });

  it('track: properties are sent under internal names, up to the number that HubSpot accepts', () => {
    const event_properties = {
      'Order ID': 1,
      items: [{ sku: 'a' }],
      '1st': true,
      '!': 'x',
      gone: null,
      ['n'.repeat(51)]: 1,
    };
    expect(inputsOf([{ resolved: sampleEvent({ event_properties }) }])[0].properties).toEqual({
      order_id: '1',
      items: '[{"sku":"a"}]',
      st: 'true',
    });
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, index]));
    const [input] = inputsOf([{ resolved: sampleEvent({ event_properties: many }) }]);
    expect(Object.keys(input.properties)).toHaveLength(50);
  });

  it('track: values are within the lengths that HubSpot accepts; a list that is too long is left out', () => {
    const url = `https://shop.example.com/${'p'.repeat(1_100)}`;
    const event_properties = {
      note: 'é'.repeat(300),
      emoji: '😀'.repeat(150) + '!',
      odd: `x${'😀'.repeat(150)}`,
      hs_page_url: url,
      url,
      few: ['a'],
      products: Array.from({ length: 30 }, (_, id) => ({ product_id: id })),
      details: { text: 'x'.repeat(300) },
      value: 42.5,
    };
    const request = hubspot.prepare(settings).buildRequest([{ resolved: sampleEvent({ event_properties }) }], 0);
    const [{ properties }] = JSON.parse(request.body ?? '').inputs;
    expect(properties).toEqual({
      note: 'é'.repeat(256),
      emoji: '😀'.repeat(128),
      odd: `x${'😀'.repeat(127)}\ufffd`,
      hs_page_url: url.slice(0, 1_024),
      url: url.slice(0, 256),
      few: '["a"]',
      value: '42.5',
    });
    expect(hubspotPlatform.judge(request, { nowMs: 0 }).problems).toEqual([]);
    const body = request.body?.replace('42.5', '4'.repeat(257));
    expect(hubspotPlatform.judge({ ...request, body }, { nowMs: 0 }).problems).toHaveLength(1);
  });

  it('track: without a hub id only events that a mapping renamed to a HubSpot name are accepted', () => {
    const prepared = hubspot.prepare({ accessToken: 'pat-1' });
    const mapped = { eventName: 'pe9_purchase', properties: { total: 1 } };
    expect(prepared.accepts?.(track)).toBe(false);
    expect(prepared.accepts?.(identify)).toBe(true);
    expect(prepared.accepts?.({ ...track, mapped })).toBe(true);
    expect(inputsOf([{ ...track, mapped }])[0]).toMatchObject({
      eventName: 'pe9_purchase',
      properties: { total: '1' },
    });
    expect(() => inputsOf([{ resolved: sampleEvent({ event: '123' }) }])).toThrow(UnfitEventError);
  });

  it('track: an event needs an e-mail address or HubSpot’s own cookie', () => {
    const context = { hubspotutk: 'cookie-1' };
    expect(inputsOf([visitedBy({ resolved: sampleEvent({ context }) }, {})])[0]).toMatchObject({ utk: 'cookie-1' });
    expect(() => inputsOf([visitedBy(track, { external_id: 'c1' })])).toThrow(UnfitEventError);
  });

  it('identify: writes contacts by e-mail address, in a request of its own', () => {
    const prepared = hubspot.prepare(settings);
    expect(prepared.groupOf?.(identify)).not.toBe(prepared.groupOf?.(track));
    expect(prepared.buildRequest([identify], 0).url).toBe(
      'https://api.hubapi.com/crm/objects/2026-09/contacts/batch/upsert',
    );
    expect(inputsOf([identify])).toEqual([
      {
        idProperty: 'email',
        id: 'ada@example.com',
        objectWriteTraceId: '0',
        properties: { email: 'ada@example.com', firstname: 'Ada' },
      },
    ]);
    expect(inputsOf([identify], { ...settings, contactProperties: 'plan, other' })[0].properties).toMatchObject({
      plan: 'pro',
    });
  });

  it('identify: a mapping alone decides which properties are set', () => {
    const mapped = { eventName: '$identify', properties: { first_name: 'A.', lead_score: 7 } };
    expect(inputsOf([{ ...identify, mapped }])[0].properties).toEqual({
      email: 'ada@example.com',
      firstname: 'A.',
      lead_score: '7',
    });
  });

  it('identify: a contact has one input, in which a later event overrides an earlier event', () => {
    const first = visitedBy(identify, { email: 'a@example.com', first_name: 'A', city: 'Bonn' });
    const second = visitedBy(identify, { email: 'A@example.com', first_name: 'B' });
    const inputs = inputsOf([first, identify, second]);
    expect(inputs).toHaveLength(2);
    expect(inputs[0]).toMatchObject({ id: 'a@example.com', properties: { firstname: 'B', city: 'Bonn' } });
    expect(() => inputsOf([visitedBy(identify, {})])).toThrow(UnfitEventError);
  });

  it('answer: the contacts a 207 does not name were written', () => {
    const same = visitedBy(identify, { email: 'b@example.com' });
    const events = [identify, same, same];
    const errors = [{ category: 'VALIDATION_ERROR', message: 'quotes', context: { objectWriteTraceId: ['1'] } }];
    const refused = { kind: 'reject', reason: 'row refused: VALIDATION_ERROR' };
    const prepared = hubspot.prepare(settings);
    expect(prepared.readAnswer?.(answer(207, { errors }), events)).toEqual([{ kind: 'delivered' }, refused, refused]);
    expect(prepared.readAnswer?.(answer(207, { errors: [{ category: 'X' }] }), [identify])).toMatchObject([
      { kind: 'retry', unnamed: 'any' },
    ]);
    expect(prepared.readAnswer?.(answer(200, { results: [] }), events)).toBeUndefined();
    expect(prepared.readAnswer?.(answer(207, { errors }), [track])).toBeUndefined();
  });

  it('group: the company, its contact and their association are sent in turn, with the ids that HubSpot returned', async () => {
    const group = { resolved: sampleEvent({ event: '$group', event_properties: { group_id: 'acme', name: 'Acme' } }) };
    const prepared = hubspot.prepare({ ...settings, companyIdProperty: 'external_company_id' });
    const sent: OutboundRequest[] = [];
    const sender = {
      send: (request: OutboundRequest): Promise<SendResult> => {
        sent.push(request);
        const { answer: given, problems } = hubspotPlatform.judge(request, { nowMs: 0 });
        expect(problems).toEqual([]);
        const body = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
        return Promise.resolve({ kind: 'answered', answer: { status: given.status, headers: {}, body } });
      },
    };
    await sendInTurn(sender, prepared.buildRequest([group], 0), () => true);
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
      '/crm/objects/2026-09/companies/batch/upsert',
      '/crm/objects/2026-09/contacts/batch/upsert',
      '/crm/associations/2026-09/contacts/companies/batch/associate/default',
    ]);
    expect(JSON.parse(sent[1]?.body ?? '').inputs).toMatchObject([{ id: 'ada@example.com', idProperty: 'email' }]);
    expect(JSON.parse(sent[2]?.body ?? '')).toEqual({ inputs: [{ from: { id: '101' }, to: { id: '101' } }] });

    // If HubSpot refuses the company, no contact is associated, and the refusal is the event's outcome.
    const refused = answer(207, { results: [], errors: [{ category: 'X', context: { objectWriteTraceId: ['0'] } }] });
    const first = prepared.buildRequest([group], 0);
    expect(first.nextOf?.(refused)).toBeUndefined();
    expect(prepared.readAnswer?.(refused, [group])).toMatchObject([{ kind: 'reject' }]);
    const stranger = visitedBy(group, {});
    expect(prepared.buildRequest([stranger], 0).nextOf).toBeUndefined();
    expect(prepared.groupOf?.(stranger)).not.toBe(prepared.groupOf?.(group));
  });

  it.each([
    ['hubId', { ...settings, hubId: 'pe123' }],
    ['contactProperties', { ...settings, contactProperties: 'Plan Name' }],
    ['batchSize', { ...settings, batchSize: '101' }],
    ['accessToken', { accessToken: 'a\r\nb' }],
  ])('prepare: refuses a bad %s', (key, given) => {
    expect(() => hubspot.prepare(given)).toThrow(`settings.${key} `);
  });
});
