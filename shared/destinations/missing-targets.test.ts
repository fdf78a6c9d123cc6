import { expect, test } from 'vitest';
import type { OutboundAnswer } from './sdk/destination.ts';
import { findDestinationKind } from './registry.ts';
import { sampleEventFor } from './sdk/sample-event.ts';

const json = (status: number, body: unknown, headers = {}): OutboundAnswer => ({
  status,
  headers,
  body: JSON.stringify(body),
});
const snsError = '<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code></Error></ErrorResponse>';

// The response that each service documents for a stream, topic, queue, bus or function that does not exist.
test.each([
  ['AWSKinesis', json(400, { __type: 'com.amazonaws.kinesis.v20131202#ResourceNotFoundException' })],
  ['AWSKinesis', json(400, { __type: 'KMSNotFoundException' })],
  ['AWSLambda', json(404, { Type: 'User' }, { 'x-amzn-errortype': 'ResourceNotFoundException:http://x.example' })],
  ['AWSSNS', { status: 404, headers: {}, body: snsError }],
  ['AWSSQS', json(400, { __type: 'com.amazonaws.sqs#QueueDoesNotExist' })],
  ['AWSSQS', json(400, { __type: 'AWS.SimpleQueueService.NonExistentQueue' })],
  ['AmazonEventBridge', json(400, { __type: 'ResourceNotFoundException' })],
  ['AmazonEventBridge', json(200, { FailedEntryCount: 1, Entries: [{ ErrorCode: 'ResourceNotFoundException' }] })],
  ['AWSSQS', json(400, { __type: 'com.amazon.coral.service#RequestExpired' })],
  ['AzureEventHubs', { status: 404, headers: {}, body: '' }],
  ['AzureEventHubs', { status: 410, headers: {}, body: '' }],
  ['GooglePubSub', json(404, { error: { code: 404, status: 'NOT_FOUND', message: 'Resource not found' } })],
  ['Kafka', json(401, { error: 'UNKNOWN_TOPIC_OR_PARTITION' })],
] as const)('missing target: %s pauses the destination, and no event becomes a dead letter: %j', (id, answer) => {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no kind ${id}`);
  const events = [{ resolved: sampleEventFor(kind) }];
  const outcomes = kind.prepare(kind.exampleSettings).readAnswer?.(answer, events);
  expect(outcomes).toEqual([{ kind: 'retry', reason: expect.any(String) as string, refusesAccess: true }]);
});
