import { hash } from 'node:crypto';
import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { awsErrorCode, awsFailure, awsOutcome, awsSettings, prepareAwsRequests } from '../sdk/aws.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, propertiesOf } from '../sdk/event.ts';
import { withinBytes } from '../sdk/http.ts';
import { matching, optionalText, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

// Kinesis accepts 500 records per request. With 200, the response stays within its size limit even if all records fail.
const batchEventsMax = 200;
// Kinesis accepts 5 MiB of records, counted before base64 encoding, which makes them a third longer.
const bodyBytesMax = (5 * 1_024 * 1_024 * 4) / 3;
const partitionKeyCharactersMax = 256;

const settings = {
  streamName: requiredText(
    {
      label: 'Stream name',
      placeholder: 'events',
      sublabel: 'The credentials need kinesis:PutRecords on it.',
      example: 'events',
    },
    matching(/^[\w.-]{1,128}$/, 'must be 1 to 128 letters, digits, _, . or -'),
  ),
  partitionProperty: optionalText({
    label: 'Partition property',
    placeholder: 'tenant_id',
    sublabel:
      'A property whose value is the partition key. Defaults to the visitor ID, also for events without the property.',
  }),
  ...awsSettings('kinesis'),
};

/**
 * Amazon Kinesis Data Streams: every event with its visitor is one JSON record; records with the same partition key (by
 * default the visitor id) go to one shard.
 * https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html
 */
export const awsKinesis = defineDestination({
  id: 'AWSKinesis',
  label: 'Amazon Kinesis',
  settings,
  exampleSuccess: {
    status: 200,
    body: '{"FailedRecordCount":0,"Records":[{"SequenceNumber":"1","ShardId":"shardId-0"}]}',
  },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: 500, bytes: 6_990_506 },
    deduplicatesBy: undefined,
    errors: 'row by row, by code',
    sources: ['https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html'],
    checked: '2026-11-22',
    version: { name: '20131202', ends: undefined },
    namesElsewhere: ['Amazon Kinesis', 'KINESIS'],
  },
  loadPlatform: async () => (await import('./platform.ts')).kinesisPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { streamName } = given;
  const makeRequest = prepareAwsRequests('kinesis', given);
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'Kinesis_20131202.PutRecords',
  };
  return {
    batchEventsMax,
    retriesRows: true,
    buildRequest(events, nowMs) {
      const body = JSON.stringify({
        StreamName: streamName,
        Records: events.map((event) => recordOf(event, given.partitionProperty)),
      });
      return withinBytes(makeRequest({ headers, body, events }, nowMs), bodyBytesMax);
    },
    readAnswer,
  };
}

function recordOf(event: OutboundEvent, property: string | undefined): JsonObject {
  const own = property === undefined ? undefined : textForm(propertiesOf(event)[property.trim()]);
  return {
    Data: Buffer.from(eventJson(event), 'utf8').toString('base64'),
    PartitionKey: partitionKey(own === undefined || own === '' ? outboundHead(event).visitorId : own),
  };
}

function partitionKey(text: string): string {
  const fits = text !== '' && text.length <= partitionKeyCharactersMax && text.isWellFormed();
  return fits ? text : hash('sha256', text, 'hex');
}

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  if (answer.status !== 200) return awsFailure(answer, awsErrorCode(answer), events);
  const records = jsonAnswer(answer)?.['Records'];
  if (!Array.isArray(records) || records.length !== events.length) return events.map(() => unreadable);
  return records.map(outcomeOf);
}

// Some records may already be stored: retrying all may repeat some records, but loses none.
const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each record' };

function outcomeOf(record: unknown): Outcome {
  const code = isJsonObject(record) ? record['ErrorCode'] : undefined;
  if (typeof code === 'string') return awsOutcome(code);
  return isJsonObject(record) && typeof record['SequenceNumber'] === 'string' ? { kind: 'delivered' } : unreadable;
}
