import type { DurableConsumer, StartFrom } from '../../../../shared/nats/consume/consumers.ts';
import { dispatcherConsumer, eventsOfAccount } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';

export type DestinationConsumerOptions = {
  readonly destinationId: string;
  readonly accountId: string;
  readonly settings: { readonly ackWaitMs: number; readonly framesAheadMax: number };
};

/** The durable consumer of one destination on its account's log. */
export class DestinationConsumer implements DurableConsumer {
  readonly stream = streams.events;
  /** The stored position of the destination, and not the consumer, is the record of its progress. */
  readonly placeIsKept = 'by-reader';
  readonly name: string;
  readonly filterSubject: string;
  readonly ackWaitMs: number;
  readonly ackPendingMax: number;
  /** Where a destination without a position starts: at the first event resolved after its first publication. */
  startFrom: StartFrom = 'first';

  constructor({ destinationId, accountId, settings }: DestinationConsumerOptions) {
    this.name = dispatcherConsumer(destinationId);
    this.filterSubject = eventsOfAccount(accountId);
    this.ackWaitMs = settings.ackWaitMs;
    this.ackPendingMax = settings.framesAheadMax;
  }
}
