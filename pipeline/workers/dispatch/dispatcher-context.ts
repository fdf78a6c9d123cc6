import type { FramesAtWork, Suspicion } from '../worker/suspicion.ts';
import type { Sender } from '../../../shared/egress/sender.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Erasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { RoundBudgets } from './sources/round-budget.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';
import type { DispatcherSettings } from './dispatcher-settings.ts';
import type { GeoRegions } from './geo-regions.ts';
import type { FrameQuotas } from './sources/frame-quota.ts';
import type { OpenedFrames } from './events/opened-frames.ts';
import type { DeliveryTimings } from './sending/delivery-timings.ts';
import type { SourceActivity } from './health/source-activity.ts';
import type { OutcomeNote } from './settlement/outcome-observer.ts';
import type { ReferencedEvents } from './events/referenced-events.ts';
import type { RetryPolicy } from './settlement/retry-policy.ts';
import type { RetryUse } from './settlement/retry-quota.ts';

export type DispatcherOptions = {
  readonly destinationId: string;
  readonly accountId: string;
  /** When the running version was published, in ms since the epoch: a new destination starts there. */
  readonly publishedAtMs: number;
  readonly instanceId: string;
  readonly connection: LogConnection;
  readonly health: Bucket;
  readonly positions: Bucket;
  /** The destination in the live version; replaced as a whole when a version is published. */
  readonly target: () => DispatchTarget | undefined;
  readonly createSender: () => Sender;
  readonly retryPolicy: RetryPolicy;
  readonly sourceActivity: SourceActivity;
  readonly timings: DeliveryTimings;
  /** The budgets of the thread for each account's rules in a round. */
  readonly roundBudgets: RoundBudgets;
  /** The limits of the thread for the frames that a dispatcher may hold. */
  readonly frameQuotas: FrameQuotas;
  /** The thread's cache of frames that several dispatchers of an account read. */
  readonly openedFrames: OpenedFrames;
  /** The thread's cache of events that retries refer to. */
  readonly referencedEvents: ReferencedEvents;
  /** How full the retry log is, as far as the thread knows. */
  readonly retryUse: () => RetryUse;
  /** The erasures and withdrawals that the thread follows. */
  readonly erasures: Erasures;
  /** Maps IP addresses to regions; the thread shares one table. */
  readonly regions: GeoRegions;
  /** Called with every outcome; never waits, never throws. */
  readonly noteOutcome: (note: OutcomeNote) => void;
  readonly settings: DispatcherSettings;
  readonly logger: Logger;
  /** Records the frames in flight in the thread's black box. Called before each piece of work. */
  beginTurn(frames?: FramesAtWork): void;
  /** Frames that are suspected because an earlier actor died with its thread while it worked on them. */
  readonly suspicion: Suspicion;
};
