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
  /** When the version that runs was published, in ms since the epoch: a new destination starts there. */
  readonly publishedAtMs: number;
  readonly instanceId: string;
  readonly connection: LogConnection;
  readonly health: Bucket;
  readonly positions: Bucket;
  /** Swapped whole when a version is published. */
  readonly target: () => DispatchTarget | undefined;
  readonly createSender: () => Sender;
  readonly retryPolicy: RetryPolicy;
  readonly sourceActivity: SourceActivity;
  readonly timings: DeliveryTimings;
  /** Of the thread: what the rules of each account may cost in a round. */
  readonly roundBudgets: RoundBudgets;
  /** Of the thread: what each dispatcher may hold of frames. */
  readonly frameQuotas: FrameQuotas;
  /** Of the thread: frames that several dispatchers of an account read. */
  readonly openedFrames: OpenedFrames;
  /** Of the thread: the events that retries refer to. */
  readonly referencedEvents: ReferencedEvents;
  /** Of the thread: what the retry log has room for. */
  readonly retryUse: () => RetryUse;
  /** Of the thread: who was erased. */
  readonly erasures: Erasures;
  /** Of the thread: where addresses are. */
  readonly regions: GeoRegions;
  /** Called with every outcome; never waits, never throws. */
  readonly noteOutcome: (note: OutcomeNote) => void;
  readonly settings: DispatcherSettings;
  readonly logger: Logger;
  /** Notes that it is the actor's turn, which each piece of its work begins with: see the thread's black box. */
  beginTurn(frames?: FramesAtWork): void;
  /** What is suspected of its frames since an earlier actor died with its thread. */
  readonly suspicion: Suspicion;
};
