import { hash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { awsErrorCode, awsFailure, awsOutcome, awsSettings, prepareAwsRequests } from '../sdk/aws.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName } from '../sdk/event.ts';
import { requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 10;
/** Maximum total size of the bodies and attributes of a request's messages, in bytes. */
const messageBytesMax = 1_048_576;
const queueUrl = /^https:\/\/[\w.-]+\/\d{12}\/[\w-]{1,80}(\.fifo)?$/;
const regionOfQueue = /^https:\/\/sqs\.([a-z0-9-]+)\./;

const settings = {
  queueUrl: requiredText({
    label: 'Queue URL',
    placeholder: 'https://sqs.eu-central-1.amazonaws.com/123456789012/events',
    sublabel: 'The credentials need sqs:SendMessage on it. On a FIFO queue each visitor is a message group.',
    example: 'https://sqs.eu-central-1.amazonaws.com/123456789012/events',
  }),
  ...awsSettings('sqs'),
};

/**
 * Amazon SQS: every event with its visitor is one JSON message, whose attribute `event` has the event name. A FIFO
 * queue keeps the order of each visitor and deduplicates by event id for five minutes.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
 */
export const awsSqs = defineDestination({
  id: 'AWSSQS',
  label: 'Amazon SQS',
  settings,
  exampleSuccess: {
    status: 200,
    body: '{"Successful":[{"Id":"e0","MessageId":"m","MD5OfMessageBody":"0"}],"Failed":[]}',
  },
  facts: {
    sends: 'Every event with its visitor, as JSON; a FIFO queue deduplicates by the event id',
    limits: { events: 10, bytes: messageBytesMax },
    deduplicatesBy: undefined,
    errors: 'row by row, by code',
    sources: ['https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html'],
    checked: '2026-11-27',
    version: 'unversioned',
    namesElsewhere: ['Amazon SQS', 'AWS SQS', 'SQS'],
  },
  loadPlatform: async () => (await import('./platform.ts')).sqsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const found = queueUrl.exec(given.queueUrl);
  if (found === null) {
    throw new SettingError('queueUrl', 'must be a queue URL, https://<host>/<12-digit account>/<name>');
  }
  const region = regionOfQueue.exec(given.queueUrl)?.[1];
  if (region !== undefined && region !== given.region) {
    throw new SettingError('region', 'must be the region in the URL of the queue');
  }
  const isFifo = found[1] !== undefined;
  const makeRequest = prepareAwsRequests('sqs', given);
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessageBatch' };
  return {
    batchEventsMax,
    retriesRows: true,
    buildRequest(events, nowMs) {
      const entries = events.map((event, index) => entryOf(event, index, isFifo));
      if (entries.reduce((sum, entry) => sum + bytesOf(entry), 0) > messageBytesMax) {
        throw new UnfitEventError('the event is too large');
      }
      const body = JSON.stringify({ QueueUrl: given.queueUrl, Entries: entries });
      return makeRequest({ headers, body, events }, nowMs);
    },
    readAnswer,
  };
}

type Entry = {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageAttributes?: { readonly event: { readonly DataType: 'String'; readonly StringValue: string } };
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
};

function entryOf(event: OutboundEvent, index: number, isFifo: boolean): Entry {
  const { visitorId, id } = outboundHead(event);
  const name = outboundName(event).toWellFormed().replace(outsideXml, '');
  return {
    Id: idOf(index),
    // SQS accepts only the characters of XML 1.0. JSON already escapes all others, except these two.
    MessageBody: eventJson(event).replace(/[\ufffe\uffff]/g, (char) => (char === '\ufffe' ? '\\ufffe' : '\\uffff')),
    ...(name === '' ? {} : { MessageAttributes: { event: { DataType: 'String', StringValue: name } } }),
    ...(isFifo ? { MessageGroupId: fifoId(visitorId), MessageDeduplicationId: fifoId(id) } : {}),
  };
}

/** Characters that an SQS message must not contain because XML 1.0 excludes them. */
const outsideXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function bytesOf({ MessageBody, MessageAttributes }: Entry): number {
  const { DataType = '', StringValue = '' } = MessageAttributes?.event ?? {};
  const ofAttribute = MessageAttributes === undefined ? 0 : 'event'.length + DataType.length;
  return Buffer.byteLength(MessageBody) + ofAttribute + Buffer.byteLength(StringValue);
}

/** An id for a FIFO queue, which accepts 1 to 128 letters, digits and punctuation; any other id is hashed. */
function fifoId(id: string): string {
  return /^[\x21-\x7e]{1,128}$/.test(id) ? id : hash('sha256', id, 'hex');
}

function idOf(index: number): string {
  return `e${index}`;
}

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  if (answer.status !== 200) return awsFailure(answer, awsErrorCode(answer), events);
  const said = jsonAnswer(answer);
  const sent = byId(said?.['Successful']);
  const failed = byId(said?.['Failed']);
  return events.map((_event, index) => {
    const failure = failed.get(idOf(index));
    if (failure !== undefined) return failureOf(failure);
    return sent.has(idOf(index)) ? { kind: 'delivered' } : unreadable;
  });
}

// Some messages may already be in the queue: retrying all may repeat some messages, but loses none.
const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each message' };

function byId(list: unknown): ReadonlyMap<unknown, JsonObject> {
  return new Map(Array.isArray(list) ? list.filter(isJsonObject).map((entry) => [entry['Id'], entry] as const) : []);
}

/**
 * The outcome of a message that failed. If the failure is not the sender's fault, the message is retried, whatever the
 * code.
 */
function failureOf({ Code: code, SenderFault: isOurs }: JsonObject): Outcome {
  const outcome = awsOutcome(typeof code === 'string' ? code : '');
  return outcome.kind === 'reject' && isOurs === false ? { kind: 'retry', reason: outcome.reason } : outcome;
}
