import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { amazonEventBridge } from './destination.ts';

type Sent = {
  readonly Entries: readonly { readonly DetailType: string; readonly Time: number; readonly Detail: string }[];
};

const prepared = amazonEventBridge.prepare(amazonEventBridge.exampleSettings);
const events = ['1', '2', '3'].map((id) => ({ resolved: sampleEvent({ id }) }));
const sentBy = (of = events): Sent => JSON.parse(prepared.buildRequest(of, 0).body ?? '') as Sent;
const read = (status: number, body: unknown) =>
  prepared.readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, events);

describe('AmazonEventBridge', () => {
  it('request: PutEvents, the event and its visitor as the detail', () => {
    const { url, headers } = prepared.buildRequest(events, 0);
    expect(url).toBe('https://events.eu-central-1.amazonaws.com/');
    expect(headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AWSEvents.PutEvents',
    });
    const [, second] = sentBy().Entries;
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(second).toMatchObject({ DetailType: 'Order Completed', Time: 1_700_000_000 });
    expect(JSON.parse(second?.Detail ?? '')).toEqual({ event, visitor });
  });

  it('request: a name too long for a detail type is sent as its hash, and an event without a name is refused', () => {
    const [entry] = sentBy([{ resolved: sampleEvent({ event: 'x'.repeat(129) }) }]).Entries;
    expect(entry?.DetailType).toMatch(/^[0-9a-f]{64}$/);
    expect(() => sentBy([{ resolved: sampleEvent({ event: '' }) }])).toThrow(UnfitEventError);
  });

  it('request: entries of more than 1 MB are refused before they are sent', () => {
    const large = { resolved: sampleEvent({ event_properties: { text: 'x'.repeat(400_000) } }) };
    expect(() => prepared.buildRequest([large, large], 0)).not.toThrow();
    expect(() => prepared.buildRequest([large, large, large], 0)).toThrow('too large');
  });

  it('answer: each event gets the outcome of its entry', () => {
    const Entries = [{ EventId: 'e' }, { ErrorCode: 'ThrottlingException' }, { ErrorCode: 'MalformedDetail' }];
    expect(read(200, { FailedEntryCount: 2, Entries })).toEqual([
      { kind: 'delivered' },
      { kind: 'retry', reason: 'ThrottlingException', isThrottled: true },
      { kind: 'reject', reason: 'MalformedDetail' },
    ]);
    expect(read(200, { FailedEntryCount: 0, Entries: [] })?.map(({ kind }) => kind)).toEqual([
      'retry',
      'retry',
      'retry',
    ]);
  });

  it('answer: a missing bus, or a key without the permission, pauses the destination', () => {
    const missing = { kind: 'retry', reason: 'ResourceNotFoundException', refusesAccess: true };
    const denied = { kind: 'retry', reason: 'NotAuthorizedForSourceException', refusesAccess: true };
    const Entries = [
      { ErrorCode: 'ResourceNotFoundException' },
      { ErrorCode: 'NotAuthorizedForSourceException' },
      { EventId: 'e' },
    ];
    expect(read(200, { Entries })?.slice(0, 2)).toEqual([missing, denied]);
    expect(read(400, { __type: 'ResourceNotFoundException' })).toEqual([missing, missing, missing]);
  });

  it.each([
    ['eventBusName', { eventBusName: 'a b' }],
    ['source', { source: 'aws.s3' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    const settings = { ...amazonEventBridge.exampleSettings, ...own };
    expect(() => amazonEventBridge.prepare(settings)).toThrow(`settings.${key} `);
  });
});
