import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import type { PurposeAnswer } from '../../../../shared/routing/consent/purpose-answer.ts';
import type { FailedExchange } from '../sending/failed-exchange.ts';
import type { DecidingVersion } from '../sources/dispatch-item.ts';

/** The outcome of an event at a destination so far, for the view of recent events. */
export type OutcomeNote = {
  readonly accountId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly visitorId: string;
  readonly destinationId: string;
  readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
  readonly reason: string | undefined;
  /** The answers for the purposes, refused ones first, if consent stopped the event. */
  readonly consent: readonly PurposeAnswer[] | undefined;
  /** The request of a failed attempt and its answer; undefined if there was no request. */
  readonly exchange: FailedExchange | undefined;
  /** Number of requests made so far. */
  readonly attempts: number;
  /** The version that decided about the event; undefined if no version decided, as for a quarantined event. */
  readonly versionNumber: number | undefined;
  readonly atMs: number;
};

export type OutcomeDetails = {
  readonly consent?: readonly PurposeAnswer[] | undefined;
  readonly exchange?: FailedExchange | undefined;
};

export type OutcomeObserver = (
  event: {
    readonly head: Pick<EventHead, 'id' | 'sourceId' | 'visitorId'>;
    readonly decidedBy?: Pick<DecidingVersion, 'versionNumber'> | undefined;
  },
  outcome: OutcomeNote['outcome'],
  attempts: number,
  reason?: string,
  more?: OutcomeDetails,
) => void;

export type OutcomeObserverOptions = {
  readonly accountId: string;
  readonly destinationId: string;
  /** Called with every outcome; never waits, never throws. */
  readonly noteOutcome: (note: OutcomeNote) => void;
};

/** Reports the outcomes of events at this destination. */
export function createOutcomeObserver({
  accountId,
  destinationId,
  noteOutcome,
}: OutcomeObserverOptions): OutcomeObserver {
  return ({ head, decidedBy }, outcome, attempts, reason, { consent, exchange } = {}) =>
    noteOutcome({
      accountId,
      destinationId,
      eventId: head.id,
      sourceId: head.sourceId,
      visitorId: head.visitorId,
      outcome,
      attempts,
      versionNumber: decidedBy?.versionNumber,
      atMs: Date.now(),
      reason,
      consent,
      exchange,
    });
}
