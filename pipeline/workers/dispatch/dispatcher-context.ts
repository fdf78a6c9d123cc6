import type { OfferedDestination } from '../../../shared/destinations/common-settings.ts';
import type { Sender, SenderLimits } from '../../../shared/egress/sender.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { DispatchPlan } from '../../../shared/routing/dispatch-plan.ts';
import type { PublishedDestination } from '../../../shared/routing/published-destinations.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { DeliveryTimings } from './sending/delivery-timings.ts';
import type { RetryPolicy } from './outbox/retry-policy.ts';
import type { SourceActivity } from './outbox/source-activity.ts';

/** What may wait for a destination to keep the order of its visitors. */
export type OrderLimits = {
  /** Visitors with an event that failed. */
  readonly visitorsMax: number;
  /** Events behind those. */
  readonly eventsMax: number;
  /** Bytes they take in the retry log. */
  readonly bytesMax: number;
};

export type DispatcherSettings = {
  /** Requests in flight to one destination, at most. */
  readonly concurrency: number;
  /** How long a batch that is not full may wait for more while others are in flight, in ms. */
  readonly lingerMs: number;
  /** Events held in memory before pulling pauses. */
  readonly eventsHeldMax: number;
  /** Bytes of frames held in memory before pulling pauses. */
  readonly bytesHeldMax: number;
  /** Frames pulled ahead, at most. */
  readonly framesBufferedMax: number;
  /** Frames above the oldest one that is not finished, at most. */
  readonly framesAheadMax: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
  readonly healthFlushMs: number;
  readonly retryWindowMs: number;
  /** Past any of them no fresh events are taken. */
  readonly order: OrderLimits;
  readonly sender: Pick<SenderLimits, 'connectTimeoutMs' | 'headersTimeoutMs' | 'totalTimeoutMs'>;
};

export const dispatcherDefaults: DispatcherSettings = {
  concurrency: 64,
  lingerMs: 5,
  eventsHeldMax: 4_096,
  bytesHeldMax: 16 * 1024 * 1024,
  framesBufferedMax: 32,
  framesAheadMax: 4_096,
  ackWaitMs: 10_000,
  healthFlushMs: 250,
  retryWindowMs: 4 * 3_600_000,
  order: { visitorsMax: 100_000, eventsMax: 200_000, bytesMax: 64 * 1024 * 1024 },
  sender: { connectTimeoutMs: 3_000, headersTimeoutMs: 10_000, totalTimeoutMs: 15_000 },
};

/** A destination as it is published now: its rules and how to send to it, or why neither can be used. */
export type DispatchTarget = { readonly destination: PublishedDestination } & (
  | { readonly plan: DispatchPlan; readonly prepared: OfferedDestination; readonly problem: undefined }
  /** `problem` never holds a value of a setting. */
  | { readonly plan: undefined; readonly prepared: undefined; readonly problem: string }
);

/** What became of an event at a destination, as things stand: for those who look on. */
export type OutcomeNote = {
  readonly accountId: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
  readonly reason?: string;
  /** Requests made so far. */
  readonly attempts: number;
  readonly atMs: number;
};

export type DispatcherOptions = {
  readonly destinationId: string;
  readonly accountId: string;
  /** When the version that runs was published, in ms since the epoch: a new consumer starts there. */
  readonly publishedAtMs: number;
  readonly instanceId: string;
  readonly connection: LogConnection;
  readonly health: Bucket;
  /** Swapped whole when a version is published. */
  readonly target: () => DispatchTarget | undefined;
  readonly createSender: (connectionsMax: number) => Sender;
  readonly retryPolicy: RetryPolicy;
  readonly sourceActivity: SourceActivity;
  readonly timings: DeliveryTimings;
  /** Told of every outcome; never waits, never throws. */
  readonly noteOutcome: (note: OutcomeNote) => void;
  readonly settings: DispatcherSettings;
  readonly logger: Logger;
};
