import type { OutboundAnswer, OutboundEvent, Outcome } from './define.ts';

/** Codes of trouble that passes, whatever status they come with. */
const passing: ReadonlySet<string> = new Set([
  'InternalError',
  'InternalErrorException',
  'InternalFailure',
  'InternalFailureException',
  'RequestTimeout',
  'RequestTimeoutException',
  'ServiceUnavailable',
  'ServiceUnavailableException',
]);

/** Codes that say that too much is asked: of AWS that is a 400 as a rule, or stands beside single records. */
const throttling: ReadonlySet<string> = new Set([
  'KMSThrottling',
  'KMSThrottlingException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestThrottled',
  'RequestThrottledException',
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
  if (throttling.has(code)) return { kind: 'retry', reason, isThrottled: true };
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
