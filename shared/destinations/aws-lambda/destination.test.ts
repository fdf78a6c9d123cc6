import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { awsLambda } from './destination.ts';

const settings = awsLambda.exampleSettings;
const nowMs = 1_700_000_060_000;
const event = { resolved: sampleEvent() };

describe('AWSLambda', () => {
  it('request: an asynchronous invocation with the event and its visitor, signed', () => {
    const request = awsLambda.prepare(settings).buildRequest([event], nowMs);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions/events/invocations',
      headers: {
        'x-amz-invocation-type': 'Event',
        'x-amz-date': '20231114T221420Z',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20231114\/eu-central-1\/lambda\/aws4_request, SignedHeaders=.*x-amz-invocation-type.*, Signature=[0-9a-f]{64}$/,
        ),
      },
    });
    const { event: sent, visitor } = event.resolved;
    expect(JSON.parse(request.body ?? '')).toEqual({ event: sent, visitor });
  });

  it('settings: an ARN with an alias, several events per request, and an invocation that waits are supported', () => {
    const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:events';
    const more = { functionName: arn, qualifier: 'live', batchSize: '10', invocationType: 'RequestResponse' };
    const request = awsLambda.prepare({ ...settings, ...more }).buildRequest([event, event], nowMs);
    expect(request.url).toContain(`/functions/${encodeURIComponent(arn)}/invocations?Qualifier=live`);
    expect(request.headers['x-amz-invocation-type']).toBe('RequestResponse');
    expect(JSON.parse(request.body ?? '')).toHaveLength(2);
    expect(() => awsLambda.prepare({ ...settings, functionName: '../x' })).toThrow('settings.functionName');
  });

  it('unfit: an event larger than an asynchronous invocation accepts', () => {
    const large = { resolved: sampleEvent({ event_properties: { text: 'x'.repeat(1_100_000) } }) };
    expect(() => awsLambda.prepare(settings).buildRequest([large], nowMs)).toThrow('too large');
    const waiting = awsLambda.prepare({ ...settings, invocationType: 'RequestResponse' });
    expect(waiting.buildRequest([large], nowMs).body?.length).toBeGreaterThan(1_100_000);
  });

  it.each([
    [202, {}, undefined],
    [200, { 'x-amz-function-error': 'Unhandled' }, 'retry'],
    [400, { 'x-amzn-errortype': 'InvalidParameterValueException:http://x' }, 'reject'],
    [400, { 'x-amzn-errortype': 'ThrottlingException' }, 'retry'],
    [404, { 'x-amzn-errortype': 'ResourceNotFoundException' }, 'retry'],
    // The function is created, updated, or wakes from being idle.
    [409, { 'x-amzn-errortype': 'SnapStartNotReadyException' }, 'retry'],
    [409, { 'x-amzn-errortype': 'ResourceConflictException:http://x' }, 'retry'],
  ])('answer: %i with %j is %s', (status, headers, kind) => {
    const outcomes = awsLambda.prepare(settings).readAnswer?.({ status, headers, body: '{"Message":"no"}' }, [event]);
    expect(outcomes?.[0]?.kind).toBe(kind);
  });
});
