import { awsErrorCode, awsFailure, awsSettings, prepareAwsRequests } from '../sdk/aws.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson } from '../sdk/event.ts';
import { withinBytes } from '../sdk/http.ts';
import { jsonArrayOf } from '../sdk/json.ts';
import { batchSize, choice, matching, optionalText, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

// Maximum size in bytes of an asynchronous (Event) and of a synchronous (RequestResponse) invocation.
const bodyBytesMax = { Event: 1_048_576, RequestResponse: 6_291_456 } as const;
const batchEventsMax = 1_000;

const settings = {
  functionName: requiredText(
    {
      label: 'Function',
      placeholder: 'my-function',
      sublabel: 'Name or ARN. The credentials need lambda:InvokeFunction on it.',
      example: 'events',
    },
    matching(/^[\w:.-]{1,170}$/, 'must be a name or an ARN'),
  ),
  qualifier: optionalText(
    { label: 'Version or alias', placeholder: 'live', sublabel: 'Defaults to the latest version.' },
    matching(/^[\w$-]{1,128}$/, 'must be a version or an alias'),
  ),
  invocationType: choice({
    label: 'Invocation',
    options: [
      { label: 'Asynchronous', value: 'Event' },
      { label: 'Wait for the function', value: 'RequestResponse' },
    ],
    sublabel: 'If asynchronous, AWS accepts the event and retries a failing function itself.',
    fallback: 'Event',
    example: 'Event',
  }),
  batchSize: batchSize({
    max: batchEventsMax,
    fallback: 1,
    sublabel: `Events in an invocation, 1 to ${batchEventsMax}. Above 1 the function receives an array.`,
  }),
  ...awsSettings('lambda'),
};

/**
 * AWS Lambda: invokes a function with the canonical event and its visitor as JSON, or with an array of these if
 * `batchSize` is above 1. https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html. A synchronous invocation
 * is retried if the function fails, and any invocation if the function is not ready.
 */
export const awsLambda = defineDestination({
  id: 'AWSLambda',
  label: 'AWS Lambda',
  settings,
  exampleSuccess: { status: 202, body: '' },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: batchEventsMax, bytes: bodyBytesMax.RequestResponse },
    deduplicatesBy: undefined,
    errors: 'status and code for the whole request; a header if the function failed',
    sources: ['https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html'],
    checked: '2026-11-22',
    version: { name: '2015-03-31', ends: undefined },
    namesElsewhere: ['Amazon Lambda', 'LAMBDA'],
  },
  loadPlatform: async () => (await import('./platform.ts')).awsLambdaPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { functionName, qualifier, invocationType } = given;
  const makeRequest = prepareAwsRequests('lambda', given);
  const query = qualifier === undefined ? '' : `?Qualifier=${encodeURIComponent(qualifier)}`;
  const path = `2015-03-31/functions/${encodeURIComponent(functionName)}/invocations${query}`;
  const headers = { 'content-type': 'application/json', 'x-amz-invocation-type': invocationType };
  return {
    batchEventsMax: given.batchSize,
    buildRequest(events, nowMs) {
      const bodies = events.map(eventJson);
      const body = given.batchSize === 1 ? (bodies[0] ?? '') : jsonArrayOf(bodies);
      return withinBytes(makeRequest({ headers, body, path, events }, nowMs), bodyBytesMax[invocationType]);
    },
    readAnswer,
  };
}

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  if (answer.status === 200 && answer.headers['x-amz-function-error'] !== undefined) {
    return events.map(() => ({ kind: 'retry', reason: 'the function failed' }));
  }
  // The function is being created or updated, or wakes from being idle.
  if (answer.status === 409) return events.map(() => ({ kind: 'retry', reason: 'the function is not ready' }));
  return awsFailure(answer, errorCode(answer), events);
}

/** The error code, from a header (`ResourceNotFoundException:http://…`), or else from `__type` in the body. */
function errorCode(answer: OutboundAnswer): string | undefined {
  const header = answer.headers['x-amzn-errortype'];
  if (header !== undefined) return header.split(':')[0];
  return answer.status < 300 ? undefined : awsErrorCode(answer);
}
