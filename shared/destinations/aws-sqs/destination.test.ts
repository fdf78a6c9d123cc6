import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { awsSqs } from './destination.ts';

type Sent = {
  readonly Entries: readonly {
    readonly Id: string;
    readonly MessageBody: string;
    readonly MessageGroupId?: string;
    readonly MessageDeduplicationId?: string;
  }[];
};

const prepared = awsSqs.prepare(awsSqs.exampleSettings);
const events = ['1', '2', '3'].map((id) => ({ resolved: sampleEvent({ id }) }));
const sentBy = (kind = prepared, of = events): Sent => JSON.parse(kind.buildRequest(of, 0).body ?? '') as Sent;
const read = (status: number, body: unknown) =>
  prepared.readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, events);
const failed = (Id: string, Code: string, SenderFault = true) => ({ Id, Code, SenderFault });

describe('AWSSQS', () => {
  it('request: SendMessageBatch with the event and its visitor, one entry per event', () => {
    const { url, headers } = prepared.buildRequest(events, 0);
    expect(url).toBe('https://sqs.eu-central-1.amazonaws.com/');
    expect(headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'AmazonSQS.SendMessageBatch',
    });
    const { Entries } = sentBy();
    expect(Entries.map(({ Id }) => Id)).toEqual(['e0', 'e1', 'e2']);
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(Entries[1]?.MessageBody ?? '')).toEqual({ event, visitor });
  });

  it('request: characters that SQS refuses are escaped in the JSON, which keeps its meaning', () => {
    const text = '\u0001\ufffe\uffff😀';
    const [entry] = sentBy(prepared, [{ resolved: sampleEvent({ event_properties: { text } }) }]).Entries;
    for (const char of text.slice(0, 3)) expect(entry?.MessageBody).not.toContain(char);
    const body = JSON.parse(entry?.MessageBody ?? '') as { event: { event_properties: { text: string } } };
    expect(body.event.event_properties.text).toBe(text);
  });

  it('FIFO queue: one message group per visitor, and the event id for deduplication, hashed if it does not fit', () => {
    const queueUrl = 'https://sqs.eu-central-1.amazonaws.com/123456789012/events.fifo';
    const fifo = awsSqs.prepare({ ...awsSqs.exampleSettings, queueUrl });
    const { Entries } = sentBy(fifo, [{ resolved: sampleEvent({ id: 'größe' }) }, ...events]);
    expect(Entries.map((entry) => entry.MessageGroupId)).toEqual(Array(4).fill('sample-visitor'));
    expect(Entries[0]?.MessageDeduplicationId).toMatch(/^[0-9a-f]{64}$/);
    expect(Entries[1]?.MessageDeduplicationId).toBe('1');
    // The queue may accept a later message of a batch and fail an earlier one, which is then retried.
    expect(fifo.retriesRows).toBe(true);
  });

  it('request: a batch over the size limit, counted without JSON escapes, is refused before it is sent', () => {
    const large = (text: string) => ({ resolved: sampleEvent({ event_properties: { text } }) });
    const half = large('"'.repeat(250_000));
    expect(() => prepared.buildRequest([half, half], 0)).not.toThrow();
    expect(() => prepared.buildRequest([half, half, half], 0)).toThrow(UnfitEventError);
  });

  it('answer: each event gets the outcome of its message, in any order; a message that is not named is sent again', () => {
    const Failed = [failed('e1', 'InternalError', false), failed('e0', 'InvalidMessageContents')];
    expect(read(200, { Successful: [], Failed })).toEqual([
      { kind: 'reject', reason: 'InvalidMessageContents' },
      { kind: 'retry', reason: 'InternalError' },
      { kind: 'retry', reason: 'the response has no result for each message' },
    ]);
    const unknown = [failed('e0', 'Odd', false), failed('e1', 'Odd'), failed('e2', 'RequestThrottled')];
    expect(read(200, { Failed: unknown })).toEqual([
      { kind: 'retry', reason: 'Odd' },
      { kind: 'reject', reason: 'Odd' },
      { kind: 'retry', reason: 'RequestThrottled', isThrottled: true },
    ]);
    expect(read(200, [])?.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'retry']);
  });

  it('answer: a missing queue or key pauses the destination', () => {
    for (const code of ['QueueDoesNotExist', 'KmsAccessDenied', 'InvalidClientTokenId']) {
      const outcome = { kind: 'retry', reason: code, refusesAccess: true };
      expect(read(400, { __type: `com.amazonaws.sqs#${code}` })).toEqual([outcome, outcome, outcome]);
    }
    expect(read(400, { __type: 'com.amazonaws.sqs#BatchRequestTooLong' })).toBeUndefined();
  });

  it.each([
    ['queueUrl', { queueUrl: 'events' }],
    ['region', { region: 'us-east-1' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => awsSqs.prepare({ ...awsSqs.exampleSettings, ...own })).toThrow(`settings.${key} `);
  });
});
