import type { Attempt } from './deliver.ts';

/** What an attempt came to, as it is counted: few words that an operator can act on. */
export const attemptOutcomes = [
  'delivered',
  'refused',
  'throttled',
  'unavailable',
  'timeout',
  'connection',
  'blocked',
  'unfit',
] as const;

export type AttemptOutcome = (typeof attemptOutcomes)[number];

/**
 * Sorts an attempt: `refused` and `unavailable` are what the platform said (never, or not now), `throttled` that it was
 * asked too often; `timeout` and `connection` that there was no answer; `blocked` that its address may not be reached;
 * `unfit` that the event cannot be made into a request.
 */
export function attemptOutcome({ outcome, request, failure }: Attempt): AttemptOutcome {
  if (outcome.kind === 'delivered') return 'delivered';
  if (request === undefined || failure === 'invalid') return 'unfit';
  if (failure !== undefined) return failure;
  if (request.status === 429 || (outcome.kind === 'retry' && outcome.isThrottled === true)) return 'throttled';
  return outcome.kind === 'retry' ? 'unavailable' : 'refused';
}
