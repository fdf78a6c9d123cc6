import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { zohoCrm } from './destination.ts';

const settings = zohoCrm.exampleSettings;
const prepared = zohoCrm.prepare(settings);
const identify = sampleShopper({ event: '$identify', properties: {}, visitor: { company_name: 'ACME' } });
const bodyOf = (event: OutboundEvent, more: JsonObject = {}) =>
  JSON.parse(zohoCrm.prepare({ ...settings, ...more }).buildRequest([event], 0).body ?? '') as JsonObject;

describe('ZohoCRM', () => {
  it('identify: upserts the person as a lead, by e-mail address', () => {
    const request = prepared.buildRequest([identify], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://www.zohoapis.eu/crm/v8/Leads/upsert',
      oauth: {
        scheme: 'Zoho-oauthtoken',
        grant: { tokenUrl: 'https://accounts.zoho.eu/oauth/v2/token', by: { kind: 'refresh-token' } },
      },
    });
    expect(bodyOf(identify)).toEqual({
      data: [
        {
          Email: 'ada@example.com',
          First_Name: 'Ada',
          Last_Name: 'Lovelace',
          Phone: '+448444124653',
          Company: 'ACME',
          Plan: 'pro',
        },
      ],
      duplicate_check_fields: ['Email'],
      trigger: [],
    });
  });

  it('settings: module and data centre choose the URL, workflows can be enabled, and an invalid pair is refused', () => {
    const contacts = zohoCrm.prepare({ ...settings, module: 'Contacts', dataCentre: 'com' });
    expect(contacts.buildRequest([identify], 0).url).toBe('https://www.zohoapis.com/crm/v8/Contacts/upsert');
    expect(bodyOf(identify, { runWorkflows: true })).not.toHaveProperty('trigger');
    expect(() => zohoCrm.prepare({ ...settings, fields: 'plan' })).toThrow('settings.fields');
  });

  it('other events: are sent only if a mapping gives the fields', () => {
    const order = sampleShopper();
    expect(prepared.accepts?.(order)).toBe(false);
    const properties = { Email: 'ada@example.com', Last_Name: 'Lovelace', Last_Order: 'A-1001' };
    const mapped = { ...order, mapped: { eventName: 'Order', properties } };
    expect(prepared.accepts?.(mapped)).toBe(true);
    expect(bodyOf(mapped)['data']).toEqual([properties]);
  });

  it('unfit: a visitor without an e-mail address', () => {
    expect(() => bodyOf(sampleStranger('$identify'))).toThrow('find the record by: Email');
  });

  it('answer: each record’s outcome follows from its code', () => {
    const data = [{ code: 'SUCCESS' }, { code: 'MANDATORY_NOT_FOUND', message: 'person' }, { code: 'INTERNAL_ERROR' }];
    const events = data.map(() => identify);
    const answer = { status: 207, headers: {}, body: JSON.stringify({ data }) };
    expect(prepared.readAnswer?.(answer, events)).toEqual([
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: MANDATORY_NOT_FOUND' },
      { kind: 'retry', reason: 'row refused: INTERNAL_ERROR' },
    ]);
  });
});
