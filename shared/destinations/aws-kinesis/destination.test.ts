import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { awsKinesis } from './destination.ts';

const prepared = awsKinesis.prepare(awsKinesis.exampleSettings);
const events = ['1', '2', '3'].map((id) => ({ resolved: sampleEvent({ id }) }));
const read = (status: number, body: unknown, of = events) =>
  prepared.readAnswer?.({ status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) }, of);
const stored = { SequenceNumber: '4954', ShardId: 'shardId-000000000000' };

describe('AWSKinesis', () => {
  it('request: PutRecords with the event and its visitor, partitioned by visitor', () => {
    const { url, headers, body } = prepared.buildRequest(events, 0);
    expect(url).toBe('https://kinesis.eu-central-1.amazonaws.com/');
    expect(headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'Kinesis_20131202.PutRecords',
    });
    const sent = JSON.parse(body ?? '') as { StreamName: string; Records: { Data: string; PartitionKey: string }[] };
    expect(sent.StreamName).toBe('events');
    expect(sent.Records.map(({ PartitionKey }) => PartitionKey)).toEqual(Array(3).fill('sample-visitor'));
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(Buffer.from(sent.Records[1]?.Data ?? '', 'base64').toString())).toEqual({ event, visitor });
  });

  it('request: a mapping renames the event; a visitor id too long for a key is hashed', () => {
    const resolved = sampleEvent();
    const long = { ...resolved, visitor: { ...resolved.visitor, id: 'x'.repeat(300) } };
    const mapped = { eventName: 'purchase', properties: { total: 1 } };
    const sent = JSON.parse(prepared.buildRequest([{ resolved: long, mapped }], 0).body ?? '') as {
      Records: { Data: string; PartitionKey: string }[];
    };
    expect(sent.Records[0]?.PartitionKey).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.parse(Buffer.from(sent.Records[0]?.Data ?? '', 'base64').toString())).toMatchObject({
      event: { event: 'purchase', event_properties: { total: 1 } },
    });
  });

  it('request: events over the size limit of a request are refused before they are sent', () => {
    const large = { resolved: sampleEvent({ event_properties: { text: 'x'.repeat(3 * 1_024 * 1_024) } }) };
    expect(() => prepared.buildRequest([large], 0)).not.toThrow();
    expect(() => prepared.buildRequest([large, large], 0)).toThrow('too large');
  });

  it('answer: each event gets the outcome of its record', () => {
    const throttled = { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'Rate exceeded …' };
    expect(read(200, { FailedRecordCount: 2, Records: [stored, throttled, { ErrorCode: 'odd one\n' }] })).toEqual([
      { kind: 'delivered' },
      { kind: 'retry', reason: 'ProvisionedThroughputExceededException', isThrottled: true },
      { kind: 'reject', reason: 'error without a known code' },
    ]);
  });

  it.each([['no json'], [{}], [{ Records: [stored] }], [{ Records: [null, 1, {}] }]])(
    'answer: %j has no outcome for each event, so all are sent again',
    (body) => {
      expect(read(200, body)?.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'retry']);
    },
  );

  it('answer: a 400 for throttling is tried again, a 400 for a missing stream pauses the destination', () => {
    const throttled = { kind: 'retry', reason: 'ThrottlingException', isThrottled: true };
    expect(read(400, { __type: 'ThrottlingException' })?.[2]).toEqual(throttled);
    const unknown = 'com.amazonaws.kinesis.v20131202#ResourceNotFoundException';
    expect(read(400, { __type: unknown })?.[0]).toEqual({
      kind: 'retry',
      reason: 'ResourceNotFoundException',
      refusesAccess: true,
    });
  });

  it('answer: the status decides if one of several events may have caused a 400, or if the body says no more', () => {
    const invalid = { __type: 'ValidationException' };
    expect(read(400, invalid)).toBeUndefined();
    expect(read(400, invalid, events.slice(0, 1))).toEqual([{ kind: 'reject', reason: 'ValidationException' }]);
    expect(read(503, { __type: 'ServiceUnavailable' })).toBeUndefined();
    expect(read(400, '<html>')).toBeUndefined();
  });

  it('prepare: refuses a bad stream name', () => {
    expect(() => awsKinesis.prepare({ ...awsKinesis.exampleSettings, streamName: 'a b' })).toThrow(
      'settings.streamName ',
    );
  });
});
