import { hash } from 'node:crypto';
import { awsFailure, awsOutcome, awsSettings, prepareAwsRequests } from '../sdk/aws.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName } from '../sdk/event.ts';
import { requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 10;
const topicArn = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:[\w-]{1,256}(\.fifo)?$/;

const settings = {
  topicArn: requiredText({
    label: 'Topic ARN',
    placeholder: 'arn:aws:sns:eu-central-1:123456789012:events',
    sublabel: 'The credentials need sns:Publish on it.',
    example: 'arn:aws:sns:eu-central-1:123456789012:events',
  }),
  ...awsSettings('sns'),
};

/**
 * Amazon SNS: every event with its visitor is one JSON message, whose attribute `event` has the event name for filters.
 * A FIFO topic keeps the order of each visitor and deduplicates by the event id.
 * https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html
 */
export const awsSns = defineDestination({
  id: 'AWSSNS',
  label: 'Amazon SNS',
  settings,
  exampleSuccess: {
    status: 200,
    body: '<PublishBatchResponse><PublishBatchResult><Failed/><Successful><member><MessageId>m</MessageId><Id>e0</Id></member></Successful></PublishBatchResult></PublishBatchResponse>',
  },
  facts: {
    sends: 'Every event with its visitor, as JSON; a FIFO topic deduplicates by the event id',
    limits: { events: 10, bytes: 262_144 },
    deduplicatesBy: undefined,
    errors: 'row by row, by code',
    sources: ['https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html'],
    checked: '2026-11-22',
    version: { name: '2010-03-31', ends: undefined },
    namesElsewhere: ['Amazon SNS'],
  },
  loadPlatform: async () => (await import('./platform.ts')).snsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const arn = given.topicArn;
  const [, region, fifo] = topicArn.exec(arn) ?? [];
  if (region === undefined) throw new SettingError('topicArn', 'must be the ARN of a topic');
  if (region !== given.region) throw new SettingError('region', 'must be the region in the ARN of the topic');
  const isFifo = fifo !== undefined;
  const makeRequest = prepareAwsRequests('sns', given);
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  return {
    batchEventsMax,
    retriesRows: true,
    buildRequest(events, nowMs) {
      const form = new URLSearchParams({ Action: 'PublishBatch', Version: '2010-03-31', TopicArn: arn });
      events.forEach((event, index) => addEntry(form, event, index, isFifo));
      return makeRequest({ headers, body: form.toString(), events }, nowMs);
    },
    readAnswer,
  };
}

function addEntry(form: URLSearchParams, event: OutboundEvent, index: number, isFifo: boolean): void {
  const head = outboundHead(event);
  const prefix = `PublishBatchRequestEntries.member.${index + 1}`;
  const add = (name: string, value: string): void => form.append(`${prefix}.${name}`, value);
  add('Id', idOf(index));
  add('Message', eventJson(event));
  const name = attributeText(outboundName(event));
  if (name !== '') {
    add('MessageAttributes.entry.1.Name', 'event');
    add('MessageAttributes.entry.1.Value.DataType', 'String');
    add('MessageAttributes.entry.1.Value.StringValue', name);
  }
  if (!isFifo) return;
  add('MessageGroupId', fifoId(head.visitorId));
  add('MessageDeduplicationId', fifoId(head.id));
}

/** An id for a FIFO topic, which accepts 1 to 128 letters, digits and punctuation; any other id is hashed. */
function fifoId(id: string): string {
  return /^[\x21-\x7e]{1,128}$/.test(id) ? id : hash('sha256', id, 'hex');
}

/** The text without characters that XML 1.0, and so a message attribute, does not allow. */
function attributeText(text: string): string {
  return text.toWellFormed().replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function idOf(index: number): string {
  return `e${index}`;
}

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const { status, body } = answer;
  if (status !== 200) return awsFailure(answer, element(body, 'Code'), events);
  const published = new Set(members(body, 'Successful').map((member) => element(member, 'Id')));
  const failed = new Map(members(body, 'Failed').map((member) => [element(member, 'Id'), element(member, 'Code')]));
  return events.map((_event, index) => {
    const id = idOf(index);
    if (failed.has(id)) return awsOutcome(failed.get(id) ?? '');
    return published.has(id) ? { kind: 'delivered' } : unreadable;
  });
}

// Some messages may already be published: retrying all may repeat some messages, but loses none.
const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each message' };

// The response is XML that contains only our own ids, and codes and messages with escaped markup. No text in it can be
// mistaken for an element, so regular expressions can read it.
function members(xml: string, list: string): readonly string[] {
  const all = new RegExp(`<${list}>([\\s\\S]*?)</${list}>`).exec(xml)?.[1] ?? '';
  return [...all.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member = '']) => member);
}

function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim();
}
