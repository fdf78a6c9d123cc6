import type { Taken } from './untried.ts';

/** The fields of the live version that sources read: whether the destination is enabled, and can be sent to. */
export type DestinationState = {
  readonly destination: { readonly isEnabled: boolean };
  readonly plan: object | undefined;
  readonly prepared: object | undefined;
};

/** The interface of a source to its dispatcher. */
export type SourceHost = {
  target(): DestinationState | undefined;
  isRunning(): boolean;
  /** Queues taken events for the dispatcher, and wakes it. */
  hand(taken: Taken): void;
  /** Spends units of the account's round budget. */
  spend(units: number): void;
  /** Records the frames in flight, before work on them. */
  beginTurn(): void;
  wake(): void;
};
