import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { awsSns } from './destination.ts';

const prepared = awsSns.prepare(awsSns.exampleSettings);
const events = ['1', '2', '3'].map((id) => ({ resolved: sampleEvent({ id }) }));
const read = (status: number, body: string) => prepared.readAnswer?.({ status, headers: {}, body }, events);

const answer = (successful: string, failed: string): string =>
  `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
  <PublishBatchResult><Failed>${failed}</Failed><Successful>${successful}</Successful></PublishBatchResult>
  <ResponseMetadata><RequestId>a-b</RequestId></ResponseMetadata></PublishBatchResponse>`;
const done = (id: string): string => `<member><MessageId>m-${id}</MessageId><Id>${id}</Id></member>`;
const fail = (id: string, code: string): string =>
  `<member><Id>${id}</Id><Code>${code}</Code><Message>&lt;Id&gt;e0&lt;/Id&gt;</Message><SenderFault>true</SenderFault></member>`;

describe('AWSSNS', () => {
  it('request: PublishBatch as a form, with one entry per event', () => {
    const { url, headers, body } = prepared.buildRequest(events, 0);
    expect(url).toBe('https://sns.eu-central-1.amazonaws.com/');
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded; charset=utf-8');
    const form = Object.fromEntries(new URLSearchParams(body));
    const entry = 'PublishBatchRequestEntries.member.2';
    expect(form).toMatchObject({
      Action: 'PublishBatch',
      Version: '2010-03-31',
      TopicArn: 'arn:aws:sns:eu-central-1:123456789012:events',
      [`${entry}.Id`]: 'e1',
      [`${entry}.MessageAttributes.entry.1.Name`]: 'event',
      [`${entry}.MessageAttributes.entry.1.Value.DataType`]: 'String',
      [`${entry}.MessageAttributes.entry.1.Value.StringValue`]: 'Order Completed',
    });
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(form[`${entry}.Message`] ?? '')).toEqual({ event, visitor });
    expect(form).not.toHaveProperty(`${entry}.MessageGroupId`);
  });

  it('FIFO topic: one message group per visitor, deduplicated by event id', () => {
    const topicArn = 'arn:aws:sns:eu-central-1:123456789012:events.fifo';
    const fifo = awsSns.prepare({ ...awsSns.exampleSettings, topicArn });
    const odd = [{ resolved: sampleEvent({ id: 'größe' }) }, ...events];
    const form = new URLSearchParams(fifo.buildRequest(odd, 0).body);
    expect(form.get('PublishBatchRequestEntries.member.1.MessageGroupId')).toBe('sample-visitor');
    expect(form.get('PublishBatchRequestEntries.member.1.MessageDeduplicationId')).toMatch(/^[0-9a-f]{64}$/);
    expect(form.get('PublishBatchRequestEntries.member.2.MessageDeduplicationId')).toBe('1');
  });

  it('answer: each event gets the outcome of its message, in any order', () => {
    expect(read(200, answer(done('e2'), fail('e1', 'InternalError') + fail('e0', 'InvalidParameter')))).toEqual([
      { kind: 'reject', reason: 'InvalidParameter' },
      { kind: 'retry', reason: 'InternalError' },
      { kind: 'delivered' },
    ]);
  });

  it('answer: a message that the answer does not name is sent again', () => {
    const kinds = (body: string) => read(200, body)?.map(({ kind }) => kind);
    expect(kinds(answer(done('e0') + done('e1'), ''))).toEqual(['delivered', 'delivered', 'retry']);
    expect(kinds('<html>')).toEqual(['retry', 'retry', 'retry']);
    expect(kinds(answer(done('e0'), '').slice(0, 150))).toEqual(['retry', 'retry', 'retry']);
  });

  it('answer: an error of the whole request is a retry, a pause, or left to the status', () => {
    const error = (code: string): string =>
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>…</Message></Error></ErrorResponse>`;
    expect(read(400, error('Throttling'))?.[0]).toEqual({ kind: 'retry', reason: 'Throttling', isThrottled: true });
    expect(read(400, error('BatchRequestTooLong'))).toBeUndefined();
    expect(read(403, error('AuthorizationError'))).toBeUndefined();
    const reason = 'InvalidClientTokenId';
    expect(read(400, error(reason))?.[2]).toEqual({ kind: 'retry', reason, refusesAccess: true });
    expect(read(400, error('NotFound'))?.[2]).toEqual({ kind: 'retry', reason: 'NotFound', refusesAccess: true });
  });

  it.each([
    ['topicArn', { topicArn: 'events' }],
    ['region', { region: 'us-east-1' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => awsSns.prepare({ ...awsSns.exampleSettings, ...own })).toThrow(`settings.${key} `);
  });
});
