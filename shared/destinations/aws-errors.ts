import type { OutboundAnswer, OutboundEvent, Outcome } from './define.ts';

/** Codes of trouble that passes, whatever status they come with: most throttling of AWS is a 400. */
const passing: ReadonlySet<string> = new Set([
  'InternalError',
  'InternalErrorException',
  'InternalFailure',
  'InternalFailureException',
  'KMSThrottling',
  'KMSThrottlingException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestThrottled',
  'RequestThrottledException',
  'RequestTimeout',
  'RequestTimeoutException',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'SlowDown',
  'Throttled',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/** Codes that may be the fault of one event among many. */
const perhapsOneEvent: ReadonlySet<string> = new Set([
  'BatchRequestTooLong',
  'BatchRequestTooLongException',
  'InvalidArgumentException',
  'InvalidParameter',
  'InvalidParameterException',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'ParameterValueInvalid',
  'SerializationException',
  'ValidationError',
  'ValidationErrorException',
  'ValidationException',
]);

/** What an error code of AWS means for the event it is about. */
export function awsOutcome(code: string): Outcome {
  const reason = /^[\w.]{1,64}$/.test(code) ? code : 'an error without a known code';
  return passing.has(code) ? { kind: 'retry', reason } : { kind: 'reject', reason };
}

/**
 * What an error of a whole request means for its events. Undefined where the status says it all, where the answer names
 * no code, or where one event among several may be at fault.
 */
export function awsFailure(
  { status }: OutboundAnswer,
  code: string | undefined,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if (status !== 400 || code === undefined || (events.length > 1 && perhapsOneEvent.has(code))) return undefined;
  const outcome = awsOutcome(code);
  return events.map(() => outcome);
}
