import type { DispatcherOptions } from './dispatcher-context.ts';
import type { SettlingContext } from './settle-attempts.ts';

/** Tells those who look on what became of an event at this destination. */
export function createOutcomeNoter({
  accountId,
  destinationId,
  noteOutcome,
}: Pick<DispatcherOptions, 'accountId' | 'destinationId' | 'noteOutcome'>): SettlingContext['note'] {
  return ({ head }, outcome, attempts, reason) =>
    noteOutcome({
      accountId,
      destinationId,
      eventId: head.id,
      outcome,
      attempts,
      atMs: Date.now(),
      ...(reason === undefined ? {} : { reason }),
    });
}
