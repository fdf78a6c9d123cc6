import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';

/** What became of an event at a destination, as things stand: for those who look on. */
export type OutcomeNote = {
  readonly accountId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly visitorId: string;
  readonly destinationId: string;
  readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
  readonly reason: string | undefined;
  /** Requests made so far. */
  readonly attempts: number;
  readonly atMs: number;
};

export type OutcomeObserver = (
  event: { readonly head: Pick<EventHead, 'id' | 'sourceId' | 'visitorId'> },
  outcome: OutcomeNote['outcome'],
  attempts: number,
  reason?: string,
) => void;

export type OutcomeObserverOptions = {
  readonly accountId: string;
  readonly destinationId: string;
  /** Told of every outcome; never waits, never throws. */
  readonly noteOutcome: (note: OutcomeNote) => void;
};

/** Tells those who look on what became of an event at this destination. */
export function createOutcomeObserver({
  accountId,
  destinationId,
  noteOutcome,
}: OutcomeObserverOptions): OutcomeObserver {
  return ({ head }, outcome, attempts, reason) =>
    noteOutcome({
      accountId,
      destinationId,
      eventId: head.id,
      sourceId: head.sourceId,
      visitorId: head.visitorId,
      outcome,
      attempts,
      atMs: Date.now(),
      reason,
    });
}
