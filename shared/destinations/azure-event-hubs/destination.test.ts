import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { azureEventHubs, sharedAccessSignature } from './destination.ts';

const example = azureEventHubs.exampleSettings;
const prepared = azureEventHubs.prepare(example);
const events = ['1', '2'].map((id) => ({ resolved: sampleEvent({ id }) }));
const noKey = { sharedAccessKeyName: null, sharedAccessKey: null };
const entra = { ...noKey, tenantId: 'tenant', clientId: 'client', clientSecret: 'secret' };

describe('AzureEventHubs', () => {
  it('request: a batch of the events and their visitors, under a signature for the event hub', () => {
    const { url, headers, body } = prepared.buildRequest(events, 1_700_000_000_000);
    expect(url).toBe('https://my-namespace.servicebus.windows.net/events/messages?api-version=2014-01');
    expect(headers['content-type']).toBe('application/vnd.microsoft.servicebus.json');
    const [, second] = JSON.parse(body ?? '') as { Body: string; UserProperties: object; BrokerProperties: object }[];
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(second?.Body ?? '')).toEqual({ event, visitor });
    expect(second?.UserProperties).toEqual({ event: 'Order Completed', event_id: '2' });
    expect(second?.BrokerProperties).toEqual({ PartitionKey: 'sample-visitor' });
  });

  it('signature: equals the documented signature, and stays the same for half an hour', () => {
    // As `createSharedAccessToken` of https://learn.microsoft.com/rest/api/eventhub/generate-sas-token computes it.
    const access = { resource: 'https://n.servicebus.windows.net/h', keyName: 'send', key: 'key' };
    expect(sharedAccessSignature(access, 1_800_000)).toBe(
      'SharedAccessSignature sr=https%3A%2F%2Fn.servicebus.windows.net%2Fh&sig=sgKjUUgxO90Lk5S9C%2F%2BbP0HgcWKm8vaqnuGEveug4Wc%3D&se=5400&skn=send',
    );
    expect(sharedAccessSignature(access, 3_599_999)).toBe(sharedAccessSignature(access, 1_800_000));
    expect(sharedAccessSignature(access, 3_600_000)).toContain('&se=7200&');
  });

  it('partition: events are grouped by visitor, and a visitor id too long for a key is hashed', () => {
    const resolved = sampleEvent();
    const other = { resolved: { ...resolved, visitor: { ...resolved.visitor, id: 'x'.repeat(200) } } };
    expect(prepared.groupOf?.(other)).toMatch(/^[0-9a-f]{64}$/);
    expect(prepared.groupOf?.({ resolved })).toBe('sample-visitor');
    expect(azureEventHubs.prepare({ ...example, partitionBy: 'none' }).groupOf).toBeUndefined();
  });

  it('access: an application of Microsoft Entra can be used instead of a key', () => {
    const { oauth, headers } = azureEventHubs.prepare({ ...example, ...entra }).buildRequest(events, 0);
    expect(headers).not.toHaveProperty('authorization');
    expect(oauth?.grant).toEqual({
      tokenUrl: 'https://login.microsoftonline.com/tenant/oauth2/v2.0/token',
      by: { kind: 'client-credentials' },
      client: { id: 'client', secret: 'secret', sentIn: 'body' },
      scope: 'https://eventhubs.azure.net/.default',
    });
  });

  it.each([
    ['my-namespace.servicebus.usgovcloudapi.net', 'login.microsoftonline.us'],
    ['my-namespace.servicebus.ChinaCloudAPI.cn', 'login.partner.microsoftonline.cn'],
  ])('access: an application for %s gets its token from %s', (namespace, host) => {
    const { oauth } = azureEventHubs.prepare({ ...example, ...entra, namespace }).buildRequest(events, 0);
    expect(oauth?.grant.tokenUrl).toBe(`https://${host}/tenant/oauth2/v2.0/token`);
  });

  it('answer: an event hub that is missing or disabled pauses the destination', () => {
    const outcome = { kind: 'retry', reason: 'status 404', refusesAccess: true };
    expect(prepared.readAnswer?.({ status: 404, headers: {}, body: '' }, events)).toEqual([outcome, outcome]);
    for (const status of [201, 400, 401, 429, 503]) {
      expect(prepared.readAnswer?.({ status, headers: {}, body: '' }, events)).toBeUndefined();
    }
  });

  it.each([
    ['namespace', { namespace: 'evil.example.net' }],
    ['eventHub', { eventHub: '../x' }],
    ['sharedAccessKey', { sharedAccessKey: null }],
    ['sharedAccessKeyName', { sharedAccessKeyName: null }],
    ['sharedAccessKeyName', noKey],
    ['tenantId', { tenantId: 'tenant' }],
    ['clientId', { ...entra, clientId: null }],
    ['clientSecret', { ...entra, clientSecret: null }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => azureEventHubs.prepare({ ...example, ...own })).toThrow(`settings.${key} `);
  });
});
