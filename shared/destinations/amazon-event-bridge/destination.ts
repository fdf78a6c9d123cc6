import { hash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { awsErrorCode, awsFailure, awsOutcome, awsSettings, prepareAwsRequests } from '../sdk/aws.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundName } from '../sdk/event.ts';
import { matching, optionalText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 10;
/** Maximum total size of a request's entries in bytes, as EventBridge counts it. */
const entryBytesMax = 1_000_000;
const timeBytes = 14;
const detailTypeCharactersMax = 128;
const standardSource = 'sluice';

const settings = {
  eventBusName: optionalText(
    {
      label: 'Event bus',
      placeholder: 'events',
      sublabel: 'Name or ARN. Defaults to the bus "default". The credentials need events:PutEvents on it.',
      example: 'events',
    },
    matching(
      /^(arn:aws[\w-]*:events:[a-z0-9-]+:\d{12}:event-bus\/)?[/.\w-]{1,256}$/,
      'must be the name or ARN of a bus',
    ),
  ),
  source: optionalText(
    {
      label: 'Source',
      placeholder: standardSource,
      sublabel: `The "source" that rules match. Defaults to "${standardSource}".`,
    },
    matching(/^(?!aws\.)[\w./-]{1,256}$/i, 'must contain only letters, digits, ., _, / or -, and not start with aws.'),
  ),
  ...awsSettings('events'),
};

/**
 * Amazon EventBridge: every event with its visitor is the detail of one entry, whose detail type is the event name.
 * EventBridge keeps no order and does not deduplicate: a repeated event has the same `detail.event.id`.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export const amazonEventBridge = defineDestination({
  id: 'AmazonEventBridge',
  label: 'Amazon EventBridge',
  settings,
  exampleSuccess: { status: 200, body: '{"FailedEntryCount":0,"Entries":[{"EventId":"e"}]}' },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: 10, bytes: 1_048_576 },
    deduplicatesBy: undefined,
    errors: 'row by row, by code',
    sources: [
      'https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html',
      'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html',
      'https://aws.amazon.com/blogs/compute/more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    namesElsewhere: ['AWS EventBridge', 'EventBridge', 'AWSEventBridge'],
  },
  loadPlatform: async () => (await import('./platform.ts')).eventBridgePlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { eventBusName, source = standardSource } = given;
  const makeRequest = prepareAwsRequests('events', given);
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSEvents.PutEvents' };
  const entryOf = (event: OutboundEvent): Entry => ({
    ...(eventBusName === undefined ? {} : { EventBusName: eventBusName }),
    Source: source,
    DetailType: detailTypeOf(event),
    Time: Math.floor(event.resolved.event.time / 1_000),
    Detail: eventJson(event),
  });
  return {
    batchEventsMax,
    retriesRows: true,
    buildRequest(events, nowMs) {
      const entries = events.map(entryOf);
      const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
      if (bytes > entryBytesMax) throw new UnfitEventError('the event is too large');
      return makeRequest({ headers, body: JSON.stringify({ Entries: entries }), events }, nowMs);
    },
    readAnswer,
  };
}

type Entry = {
  readonly EventBusName?: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Time: number;
  readonly Detail: string;
};

/** The event name, or its hash if it is too long: a truncated name could match another one. */
function detailTypeOf(event: OutboundEvent): string {
  const name = outboundName(event).toWellFormed();
  if (name === '') throw new UnfitEventError('the event has no name');
  return name.length <= detailTypeCharactersMax ? name : hash('sha256', name, 'hex');
}

/** The size of an entry: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html */
function bytesOf({ Source, DetailType, Detail }: Entry): number {
  return timeBytes + Buffer.byteLength(Source) + Buffer.byteLength(DetailType) + Buffer.byteLength(Detail);
}

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  if (answer.status !== 200) return awsFailure(answer, awsErrorCode(answer), events);
  const entries = jsonAnswer(answer)?.['Entries'];
  if (!Array.isArray(entries) || entries.length !== events.length) return events.map(() => unreadable);
  return entries.map(outcomeOf);
}

// Some entries may already be on the bus: retrying all may repeat some entries, but loses none.
const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each entry' };

function outcomeOf(entry: unknown): Outcome {
  const code = isJsonObject(entry) ? entry['ErrorCode'] : undefined;
  if (typeof code === 'string') return awsOutcome(code);
  return isJsonObject(entry) && typeof entry['EventId'] === 'string' ? { kind: 'delivered' } : unreadable;
}
