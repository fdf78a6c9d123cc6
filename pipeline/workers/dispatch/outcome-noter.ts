import type { DispatchItem } from './dispatch-item.ts';
import type { DispatcherOptions, OutcomeNote } from './dispatcher-context.ts';

export type NoteOutcome = (
  item: DispatchItem,
  outcome: OutcomeNote['outcome'],
  attempts: number,
  reason?: string,
) => void;

/** Tells those who look on what became of an event at this destination. */
export function createOutcomeNoter({
  accountId,
  destinationId,
  noteOutcome,
}: Pick<DispatcherOptions, 'accountId' | 'destinationId' | 'noteOutcome'>): NoteOutcome {
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
