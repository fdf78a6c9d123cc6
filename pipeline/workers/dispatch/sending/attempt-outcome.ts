import type { Attempt } from './deliver.ts';

/** What an attempt came to, as it is counted: few words that an operator can act on. */
export const attemptOutcomes = [
  'delivered',
  'dropped',
  'refused',
  'access_refused',
  'throttled',
  'unavailable',
  'timeout',
  'connection',
  'blocked',
  'unfit',
] as const;

export type AttemptOutcome = (typeof attemptOutcomes)[number];

/**
 * Sorts an attempt: `dropped` is what the platform took and threw away by a rule of its own; `refused` and `unavailable`
 * are what it said (never, or not now), `access_refused` that the key or token of the destination is no good, `throttled` that it was
 * asked too often; `timeout` and `connection` that there was no answer; `blocked` that its address may not be reached;
 * `unfit` that the event cannot be made into a request.
 */
export function attemptOutcome({ outcome, request, failure }: Attempt): AttemptOutcome {
  if (outcome.kind === 'delivered' || outcome.kind === 'dropped') return outcome.kind;
  if (request === undefined || failure === 'invalid') return 'unfit';
  if (request.status === 429 || (outcome.kind === 'retry' && outcome.isThrottled === true)) return 'throttled';
  if (outcome.kind === 'retry' && outcome.refusesAccess === true) return 'access_refused';
  if (failure !== undefined) return failure;
  return outcome.kind === 'retry' ? 'unavailable' : 'refused';
}
