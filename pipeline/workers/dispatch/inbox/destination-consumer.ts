import type { DurableConsumer, StartFrom } from '../../../../shared/nats/consume/consumers.ts';
import { dispatcherConsumer, eventsOfAccount } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';

export type DestinationConsumerOptions = {
  readonly destinationId: string;
  readonly accountId: string;
  /** A new consumer starts there, in ms since the epoch. */
  readonly publishedAtMs: number;
  readonly settings: { readonly ackWaitMs: number; readonly framesAheadMax: number };
};

/** The durable consumer of one destination on its account's log. */
export class DestinationConsumer implements DurableConsumer {
  readonly stream = streams.events;
  /** With the health of the destination. */
  readonly placeIsKept = 'by-reader';
  readonly name: string;
  readonly filterSubject: string;
  readonly ackWaitMs: number;
  readonly ackPendingMax: number;
  /** What was resolved since the version went live is for the destination, whenever this process saw the version. */
  readonly startFrom: StartFrom;

  constructor({ destinationId, accountId, publishedAtMs, settings }: DestinationConsumerOptions) {
    this.name = dispatcherConsumer(destinationId);
    this.filterSubject = eventsOfAccount(accountId);
    this.ackWaitMs = settings.ackWaitMs;
    this.ackPendingMax = settings.framesAheadMax;
    this.startFrom = { timeMs: publishedAtMs };
  }
}
