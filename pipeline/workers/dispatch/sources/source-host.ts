import type { Taken } from './untried.ts';

/** What sources use of the live version: whether the destination is enabled, and whether events can be sent to it. */
export type DestinationState = {
  readonly destination: { readonly isEnabled: boolean };
  readonly plan: object | undefined;
  readonly prepared: object | undefined;
};

/** The dispatcher, as its sources use it. */
export type SourceHost = {
  target(): DestinationState | undefined;
  isRunning(): boolean;
  /** Queues taken events for the dispatcher, and wakes it. */
  hand(taken: Taken): void;
  /** Spends units of the account's round budget. */
  spend(units: number): void;
  /** Records the frames in flight. Call before any work on them. */
  beginTurn(): void;
  wake(): void;
};
