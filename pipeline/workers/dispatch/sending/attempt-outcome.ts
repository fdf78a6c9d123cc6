import type { Attempt } from './deliver.ts';

/** The outcome of an attempt, as it is counted: one of a few words on which an operator can act. */
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
 * Classifies an attempt. `dropped`: the platform accepted the event and discarded it by its own rule. `refused`: it
 * refused the event permanently; `unavailable`: temporarily. `access_refused`: it refused the destination's key or
 * token. `throttled`: it received too many requests. `timeout` and `connection`: it did not answer. `blocked`: requests
 * to its address are not allowed. `unfit`: no request can be built from the event.
 */
export function attemptOutcome({ outcome, request, failure }: Attempt): AttemptOutcome {
  if (outcome.kind === 'delivered' || outcome.kind === 'dropped') return outcome.kind;
  if (request === undefined || failure === 'invalid') return 'unfit';
  if (request.status === 429 || (outcome.kind === 'retry' && outcome.isThrottled === true)) return 'throttled';
  if (outcome.kind === 'retry' && outcome.refusesAccess === true) return 'access_refused';
  if (failure !== undefined) return failure;
  return outcome.kind === 'retry' ? 'unavailable' : 'refused';
}
