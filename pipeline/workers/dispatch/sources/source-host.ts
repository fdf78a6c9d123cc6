import type { Taken } from './untried.ts';

/** What sources read of the live version: whether the destination is enabled, and whether it can be sent to. */
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
