import type { Taken } from './untried.ts';

/** What sources look at of the live version: whether the destination is enabled, and whether it can be sent to. */
export type DestinationState = {
  readonly destination: { readonly isEnabled: boolean };
  readonly plan: object | undefined;
  readonly prepared: object | undefined;
};

/** What a source needs of its dispatcher. */
export type SourceHost = {
  target(): DestinationState | undefined;
  isRunning(): boolean;
  /** Queues what was taken for the dispatcher, and wakes it. */
  hand(taken: Taken): void;
  /** Spends units of the account's part of the round. */
  spend(units: number): void;
  /** Records what is in flight, before it is worked on. */
  beginTurn(): void;
  wake(): void;
};
